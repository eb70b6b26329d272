extension EventLog {
    /// A cursor from which `read` goes on, after announcing what is already lost.
    ///
    /// `isWanted` tells which records `.last` counts. An id of another epoch or of the future means that the
    /// reader lost an unknown number of records: it gets a gap, then all that is kept.
    package func cursor(
        at start: StartPosition,
        of connections: ConnectionSelection,
        where isWanted: (Record) -> Bool = { _ in true }
    ) -> LogCursor {
        switch start {
        case .now: cursor(after: headSequence, of: connections)
        case .start: cursor(after: sequenceBeforeOldest(of: connections), of: connections)
        case .last(let count): cursor(before: count, of: connections, isWanted)
        case .since(let time): cursor(since: time, of: connections)
        case .after(let id): cursor(afterID: id, of: connections)
        }
    }

    /// Starts after `sequence`, whatever was lost.
    private func cursor(after sequence: UInt64, of connections: ConnectionSelection) -> LogCursor {
        let places = connections.indices.map { connection in
            LogCursor.Place(
                connection: connection,
                next: histories[Int(connection.number)].ordinal(after: sequence)
            )
        }
        return LogCursor(position: sequence, places: places, loss: nil)
    }

    private func cursor(afterID id: EventID, of connections: ConnectionSelection) -> LogCursor {
        guard id.epoch == epoch, id.sequence <= headSequence else {
            var cursor = cursor(at: .start, of: connections)
            cursor.loss = LogCursor.Loss(count: nil, last: cursor.position)
            return cursor
        }
        var cursor = cursor(after: id.sequence, of: connections)
        for connection in connections.indices {
            let evictions = histories[Int(connection.number)].evictions
            guard evictions.last > id.sequence else { continue }
            cursor.loss =
                cursor.loss + LogCursor.Loss(count: evictions.lost(after: id.sequence), last: evictions.last)
        }
        return cursor
    }

    /// Starts with the first record at `time` or later.
    ///
    /// How many of the lost ones were that late is not known. Where the wall clock was set back between
    /// records, the first of several such places may be missed.
    private func cursor(since time: WallTime, of connections: ConnectionSelection) -> LogCursor {
        var position = headSequence
        var loss: LogCursor.Loss?
        for connection in connections.indices {
            let history = histories[Int(connection.number)]
            let offset = history.records.partition { $0.time < time }
            if offset < history.records.count {
                position = min(position, history.records[offset].sequence - 1)
            }
            if let evicted = history.lastEvictedTime, evicted >= time {
                loss = loss + LogCursor.Loss(count: nil, last: history.evictions.last)
            }
        }
        var cursor = cursor(after: position, of: connections)
        cursor.loss = loss
        return cursor
    }

    private func sequenceBeforeOldest(of connections: ConnectionSelection) -> UInt64 {
        oldestSequence(of: connections).map { $0 - 1 } ?? headSequence
    }

    /// Starts where `count` wanted records follow, or all if there are not so many.
    private func cursor(
        before count: Int,
        of connections: ConnectionSelection,
        _ isWanted: (Record) -> Bool
    ) -> LogCursor {
        let kept = connections.indices.map { histories[Int($0.number)].records }
        var ends = kept.map(\.count)
        var position = headSequence
        var found = 0
        while found < count {
            var newest: Record?
            var source = 0
            for (index, records) in kept.enumerated() where ends[index] > 0 {
                let candidate = records[ends[index] - 1]
                if let known = newest, known.sequence > candidate.sequence { continue }
                newest = candidate
                source = index
            }
            guard let newest else { break }
            ends[source] -= 1
            position = newest.sequence - 1
            if isWanted(newest) { found += 1 }
        }
        return cursor(after: position, of: connections)
    }
}
