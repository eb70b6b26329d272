extension EventLog {
    /// Moves a cursor that is seeking back, until as many records follow as its reader wanted, or all that are kept.
    ///
    /// Records that come meanwhile follow, too. What is evicted meanwhile was not read yet, so it is not lost.
    ///
    /// - Returns: false if the allowance was spent before the place was found, or the disk has to be asked.
    package func goBack(
        _ cursor: inout LogCursor,
        by filter: StreamFilter,
        _ allowance: inout SearchAllowance
    ) -> Bool {
        let floor = diskFloor(of: cursor)
        var heap = PlaceHeap(
            cursor.places.enumerated().compactMap { index, place in
                // The newest first.
                record(before: place, behind: floor).map { (key: ~$0.sequence, place: index) }
            }
        )
        while cursor.wanted > 0, let (_, place) = heap.first,
            let record = record(before: cursor.places[place], behind: floor)
        {
            guard !allowance.isSpent else { return false }
            allowance.spend(on: record, filter)
            cursor.goBack(place, by: record.sequence, ordinal: (cursor.places[place].next ?? 1) - 1)
            if filter.accepts(record) { cursor.wanted -= 1 }
            heap.replaceFirst(
                key: self.record(before: cursor.places[place], behind: floor).map { ~$0.sequence }
            )
        }
        if cursor.wanted > 0, floor > 0, cursor.back > 1 {
            cursor.back = min(cursor.back, floor + 1)
            return false
        }
        begin(&cursor)
        return true
    }

    /// Goes further back by a page of what is on disk.
    ///
    /// - Returns: whether the place was found.
    func goBack(_ cursor: inout LogCursor, by filter: StreamFilter, _ page: StorePage) -> Bool {
        for (record, ordinal) in records(of: page, in: page.position..<cursor.back, cursor).reversed() {
            guard cursor.wanted > 0,
                let place = cursor.places.firstIndex(where: { $0.connection == record.connection })
            else { continue }
            cursor.goBack(place, by: record.sequence, ordinal: ordinal)
            if filter.accepts(record) { cursor.wanted -= 1 }
        }
        cursor.back = min(cursor.back, page.position + 1)
        guard cursor.wanted == 0 || page.position == 0 else { return false }
        begin(&cursor)
        return true
    }

    /// Has a cursor that has gone back begin where it is.
    private func begin(_ cursor: inout LogCursor) {
        cursor.wanted = 0
        if let oldest = cursor.oldest { cursor.position = oldest - 1 }
        for index in cursor.places.indices {
            let history = histories[Int(cursor.places[index].connection.number)]
            cursor.places[index].begin = history.firstOrdinal
            cursor.places[index].next = max(history.firstOrdinal, cursor.places[index].next ?? 0)
        }
    }

    private func record(before place: LogCursor.Place, behind floor: UInt64) -> Record? {
        guard let next = place.next, next > 0,
            let record = histories[Int(place.connection.number)].record(at: next - 1),
            record.sequence > floor
        else { return nil }
        return record
    }
}

extension LogCursor {
    fileprivate mutating func goBack(_ place: Int, by sequence: UInt64, ordinal: UInt64) {
        places[place].next = ordinal
        oldest = sequence
        back = sequence
    }
}
