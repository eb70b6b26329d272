extension EventLog {
    /// The next entries, oldest first: at most `maxRecords` records, of `maxBytes` together.
    ///
    /// A larger record comes as the only one. Nothing comes if and only if the cursor
    /// has reached the head. A gap comes first in the answer, and only once for each loss. Costs O(1) at the
    /// head.
    package func read(_ cursor: inout LogCursor, maxRecords: Int, maxBytes: Int) -> [LogEntry] {
        guard cursor.position < headSequence || cursor.loss != nil else { return [] }
        var entries: [LogEntry] = []
        if let gap = announce(&cursor) { entries.append(.gap(gap)) }
        var room = (records: max(1, maxRecords), bytes: maxBytes)
        while let (place, rival) = nextPlace(of: cursor) {
            let history = histories[Int(cursor.places[place].connection.number)]
            while let record = history.record(at: cursor.places[place].next), record.sequence < rival {
                let isFirst = room.records == max(1, maxRecords)
                guard room.records > 0, isFirst || room.bytes >= record.byteCount else { return entries }
                entries.append(.record(record))
                cursor.position = record.sequence
                cursor.places[place].next += 1
                room.records -= 1
                room.bytes -= record.byteCount
            }
        }
        cursor.position = headSequence
        return entries
    }

    /// The oldest record that is kept of these connections.
    func oldestSequence(of connections: some Sequence<ConnectionIndex>) -> UInt64? {
        connections.compactMap { histories[Int($0.number)].records.first?.sequence }.min()
    }

    func oldestSequence(of connections: ConnectionSelection) -> UInt64? {
        oldestSequence(of: connections.indices)
    }

    /// Which connection has the next record, and the sequence from which another one has it.
    private func nextPlace(of cursor: LogCursor) -> (place: Int, rival: UInt64)? {
        var best: (place: Int, sequence: UInt64)?
        var rival = UInt64.max
        for (index, place) in cursor.places.enumerated() {
            let history = histories[Int(place.connection.number)]
            guard let sequence = history.record(at: place.next)?.sequence else { continue }
            if let known = best, known.sequence < sequence {
                rival = min(rival, sequence)
            } else {
                rival = min(rival, best?.sequence ?? .max)
                best = (index, sequence)
            }
        }
        return best.map { ($0.place, rival) }
    }

    /// Moves the cursor beyond what it lost, and says so.
    private func announce(_ cursor: inout LogCursor) -> Gap? {
        for index in cursor.places.indices {
            let place = cursor.places[index]
            let history = histories[Int(place.connection.number)]
            guard place.next < history.firstOrdinal else { continue }
            let loss = LogCursor.Loss(
                count: history.firstOrdinal - place.next,
                last: history.evictions.last
            )
            cursor.loss = cursor.loss + loss
            cursor.places[index].next = history.firstOrdinal
        }
        guard let loss = cursor.loss else { return nil }
        // An id beyond the next record would skip it for a reader that comes back with that id.
        let next = nextPlace(of: cursor).flatMap { place, _ in
            histories[Int(cursor.places[place].connection.number)].record(at: cursor.places[place].next)
        }
        cursor.position = max(cursor.position, min(loss.last, next.map { $0.sequence - 1 } ?? loss.last))
        cursor.loss = nil
        return Gap(
            missed: loss.count,
            id: id(cursor.position),
            oldest: oldestSequence(of: cursor.places.lazy.map(\.connection)).map(id)
        )
    }
}
