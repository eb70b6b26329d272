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
        while cursor.wanted > 0 {
            guard let (place, record) = recordBefore(cursor) else { break }
            guard !allowance.isSpent else { return false }
            allowance.spend(on: record, filter)
            cursor.places[place].next -= 1
            if filter.accepts(record) { cursor.wanted -= 1 }
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

    /// The newest record that is kept of those before the cursor.
    private func recordBefore(_ cursor: LogCursor) -> (place: Int, record: Record)? {
        var newest: (place: Int, record: Record)?
        for (index, place) in cursor.places.enumerated() where place.next > 0 {
            let history = histories[Int(place.connection.number)]
            guard let record = history.record(at: place.next - 1) else { continue }
            if let newest, newest.record.sequence > record.sequence { continue }
            newest = (index, record)
        }
        return newest
    }
}
