extension EventLog {
    /// A cursor from which `read` goes on, after announcing what is already lost.
    ///
    /// One that is to begin with the newest records has to `goBack` to the first of them before that. An id of another
    /// epoch or of the future means that the reader lost an unknown number of records: it gets a gap, then all that
    /// is kept.
    package func cursor(at start: StartPosition, of connections: ConnectionSelection) -> LogCursor {
        switch start {
        case .now: cursor(after: headSequence, of: connections)
        case .start: cursor(after: sequenceBeforeOldest(of: connections), of: connections)
        case .last(let count): cursor(before: count, of: connections)
        case .since(let time): cursor(since: time, of: connections)
        case .after(let id): cursor(afterID: id, of: connections)
        }
    }

    /// Starts with what is kept after `sequence`, whatever was lost.
    private func cursor(after sequence: UInt64, of connections: ConnectionSelection) -> LogCursor {
        let places = connections.indices.map { connection in
            let history = histories[Int(connection.number)]
            let next = history.ordinal(after: sequence)
            return LogCursor.Place(connection: connection, next: next, begin: history.firstOrdinal)
        }
        return LogCursor(position: sequence, places: places, loss: nil)
    }

    /// Starts after `sequence`, and tells what was lost since then.
    private func exactCursor(after sequence: UInt64, of connections: ConnectionSelection) -> LogCursor {
        var cursor = LogCursor(position: sequence, places: [], loss: nil)
        for connection in connections.indices { add(connection, to: &cursor) }
        return cursor
    }

    /// Has a reader that has followed the log to `sequence` read on from there: what it lost since is its loss.
    package func cursor(following sequence: UInt64, of connections: ConnectionSelection) -> LogCursor {
        var cursor = exactCursor(after: sequence, of: connections)
        for index in cursor.places.indices { cursor.places[index].begin = cursor.places[index].next }
        return cursor
    }

    /// Has a reader read this connection as well, from where it stands.
    private func add(_ connection: ConnectionIndex, to cursor: inout LogCursor) {
        let history = histories[Int(connection.number)]
        var next = history.ordinal(after: cursor.position)
        if history.unknownThrough > cursor.position {
            cursor.loss = cursor.loss + LogCursor.Loss(count: nil, last: history.unknownThrough)
        }
        if history.evictions.last > cursor.position {
            let (ordinal, unknown) = history.evictions.ordinal(after: cursor.position)
            next = ordinal
            if let unknown { cursor.loss = cursor.loss + LogCursor.Loss(count: nil, last: unknown) }
        }
        cursor.places.append(
            LogCursor.Place(connection: connection, next: next, begin: history.firstOrdinal)
        )
    }

    private func cursor(afterID id: EventID, of connections: ConnectionSelection) -> LogCursor {
        guard id.epoch == epoch, id.sequence <= headSequence else {
            var cursor = exactCursor(after: sequenceBeforeOldest(of: connections), of: connections)
            cursor.loss = cursor.loss + LogCursor.Loss(count: nil, last: cursor.position)
            return cursor
        }
        return exactCursor(after: id.sequence, of: connections)
    }

    /// Starts with the first record at `time` or later.
    ///
    /// How many of the lost ones before that were that late is not known. Where the wall clock was set back
    /// between records, the first of several such places may be missed.
    private func cursor(since time: WallTime, of connections: ConnectionSelection) -> LogCursor {
        var position = headSequence
        for connection in connections.indices {
            let records = histories[Int(connection.number)].records
            let offset = records.partition { $0.time < time }
            if offset < records.count { position = min(position, records[offset].sequence - 1) }
        }
        var cursor = exactCursor(after: position, of: connections)
        for connection in connections.indices {
            let history = histories[Int(connection.number)]
            guard let newest = history.lastEvictedTime, newest >= time,
                let first = history.evictions.first, first <= position
            else { continue }
            let last = min(history.evictions.last, position)
            cursor.loss = cursor.loss + LogCursor.Loss(count: nil, last: last)
        }
        return cursor
    }

    /// Has a reader go on with other connections, from where it stands.
    ///
    /// What it has not read of those that it reads no more counts as lost.
    package func reselect(_ cursor: inout LogCursor, _ connections: ConnectionSelection) {
        let known = cursor.places
        cursor.places = known.filter { connections.contains($0.connection) }
        for connection in connections.indices where !known.contains(where: { $0.connection == connection }) {
            add(connection, to: &cursor)
        }
        for place in known where !connections.contains(place.connection) {
            let history = histories[Int(place.connection.number)]
            guard place.next < history.endOrdinal else { continue }
            let last = history.records.last?.sequence ?? history.evictions.last
            let loss = LogCursor.Loss(count: history.endOrdinal - place.next, last: last)
            cursor.loss = cursor.loss + loss
        }
    }

    private func sequenceBeforeOldest(of connections: ConnectionSelection) -> UInt64 {
        oldestSequence(of: connections).map { $0 - 1 } ?? headSequence
    }

    private func cursor(before count: Int, of connections: ConnectionSelection) -> LogCursor {
        var cursor = cursor(after: headSequence, of: connections)
        cursor.wanted = count
        return cursor
    }
}
