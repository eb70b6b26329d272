extension EventLog {
    /// Moves a cursor that is seeking back, until as many records follow as its reader wanted, or all that are kept.
    ///
    /// Records that come meanwhile follow, too. What is evicted meanwhile was not read yet, so it is not lost.
    ///
    /// - Returns: false if the allowance was spent before the place was found.
    package func goBack(
        _ cursor: inout LogCursor,
        by filter: StreamFilter,
        _ allowance: inout SearchAllowance
    ) -> Bool {
        var heap = PlaceHeap(
            cursor.places.enumerated().compactMap { index, place in
                // The newest first.
                record(before: place).map { (key: ~$0.sequence, place: index) }
            }
        )
        while cursor.wanted > 0, let (_, place) = heap.first,
            let record = record(before: cursor.places[place])
        {
            guard !allowance.isSpent else { return false }
            allowance.spend(on: record, filter)
            cursor.places[place].next -= 1
            if filter.accepts(record) { cursor.wanted -= 1 }
            heap.replaceFirst(key: self.record(before: cursor.places[place]).map { ~$0.sequence })
        }
        cursor.wanted = 0
        var next = headSequence + 1
        for index in cursor.places.indices {
            let history = histories[Int(cursor.places[index].connection.number)]
            cursor.places[index].begin = history.firstOrdinal
            cursor.places[index].next = max(history.firstOrdinal, cursor.places[index].next)
            next = min(next, history.record(at: cursor.places[index].next)?.sequence ?? next)
        }
        cursor.position = next - 1
        return true
    }

    private func record(before place: LogCursor.Place) -> Record? {
        place.next > 0 ? histories[Int(place.connection.number)].record(at: place.next - 1) : nil
    }
}
