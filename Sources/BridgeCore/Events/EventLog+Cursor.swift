extension EventLog {
    /// A cursor from which `read` goes on, after announcing what is already lost.
    ///
    /// One that is to begin with the newest records has to `goBack` to the first of them before that. An id of another
    /// epoch or of the future means that the reader lost an unknown number of records: it gets a gap, then all that
    /// is kept.
    package func cursor(at start: StartPosition, of connections: ConnectionSelection) -> LogCursor {
        switch start {
        case .now: cursorAtHead(of: connections)
        case .start: cursorAtStart(of: connections)
        case .last(let count): cursor(before: count, of: connections)
        case .since(let time): cursor(since: time, of: connections)
        case .after(let id): cursor(afterID: id, of: connections)
        }
    }

    /// Starts with what comes next.
    private func cursorAtHead(of connections: ConnectionSelection) -> LogCursor {
        let places = connections.indices.map { connection in
            let history = histories[Int(connection.number)]
            return LogCursor.Place(
                connection: connection,
                next: history.endOrdinal,
                begin: history.firstOrdinal
            )
        }
        return LogCursor(position: headSequence, places: places, loss: nil)
    }

    /// Starts with all that is kept, whatever was lost.
    private func cursorAtStart(of connections: ConnectionSelection) -> LogCursor {
        let places = connections.indices.map { connection in
            let history = histories[Int(connection.number)]
            var place = LogCursor.Place(
                connection: connection,
                next: history.firstOrdinal,
                begin: history.firstOrdinal
            )
            // What is trimmed before the disk is read was not there.
            if history.diskFloor > 0 { (place.next, place.takesOldest) = (nil, true) }
            return place
        }
        return LogCursor(position: sequenceBeforeOldest(of: connections), places: places, loss: nil)
    }

    /// Starts after `sequence`, and tells what was lost since then.
    private func exactCursor(after sequence: UInt64, of connections: ConnectionSelection) -> LogCursor {
        var cursor = LogCursor(position: sequence, places: [], loss: nil)
        for connection in connections.indices { add(connection, to: &cursor) }
        noteGap(at: &cursor)
        return cursor
    }

    /// Has a reader that has followed the log to `sequence` read on from there: what it lost since is its loss.
    package func cursor(following sequence: UInt64, of connections: ConnectionSelection) -> LogCursor {
        var cursor = exactCursor(after: sequence, of: connections)
        for index in cursor.places.indices {
            cursor.places[index].begin = cursor.places[index].next ?? cursor.places[index].begin
        }
        return cursor
    }

    /// Has a reader read this connection as well, from where it stands.
    private func add(_ connection: ConnectionIndex, to cursor: inout LogCursor) {
        let history = histories[Int(connection.number)]
        var next: UInt64? =
            cursor.position < history.diskFloor ? nil : history.ordinal(after: cursor.position)
        if history.unknownThrough > cursor.position {
            lose(through: history.unknownThrough, &cursor)
        }
        if history.evictions.last > cursor.position {
            let (ordinal, unknown) = history.evictions.ordinal(after: cursor.position)
            next = ordinal
            if let unknown { lose(through: unknown, &cursor) }
        }
        cursor.places.append(
            LogCursor.Place(connection: connection, next: next, begin: history.firstOrdinal)
        )
    }

    /// Notes that the reader has lost an unknown number of records.
    func lose(through last: UInt64, _ cursor: inout LogCursor) {
        cursor.loss = cursor.loss + LogCursor.Loss(count: nil, last: last, from: cursor.position)
    }

    private func cursor(afterID id: EventID, of connections: ConnectionSelection) -> LogCursor {
        guard id.epoch == epoch, id.sequence <= headSequence else {
            var cursor = exactCursor(after: sequenceBeforeOldest(of: connections), of: connections)
            lose(through: cursor.position, &cursor)
            return cursor
        }
        return exactCursor(after: id.sequence, of: connections)
    }

    /// Starts with the first record at `time` or later.
    ///
    /// How many of the lost ones before that were that late is not known. Where the wall clock was set back
    /// between records, the first of several such places may be missed.
    private func cursor(since time: WallTime, of connections: ConnectionSelection) -> LogCursor {
        let mayBeOnDisk = connections.indices.contains { connection in
            let history = histories[Int(connection.number)]
            return history.diskFloor > 0 && history.disk?.evictedTime.map { $0 >= time } ?? true
        }
        guard mayBeOnDisk else { return cursor(since: time, of: connections, before: headSequence) }
        var cursor = LogCursor(position: 0, places: [], loss: nil)
        cursor.places = connections.indices.map { LogCursor.Place(connection: $0, next: nil, begin: 0) }
        cursor.since = time
        cursor.back = headSequence
        return cursor
    }

    /// Starts after `limit`, or with the first record in memory at `time` or later if that is before it.
    func cursor(
        since time: WallTime,
        of connections: ConnectionSelection,
        before limit: UInt64
    ) -> LogCursor {
        var position = limit
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
            lose(through: min(history.evictions.last, position), &cursor)
        }
        return cursor
    }

    /// Has a reader go on with other connections, from where it stands.
    ///
    /// What it has not read of those that it reads no more counts as lost.
    package func reselect(_ cursor: inout LogCursor, _ connections: ConnectionSelection) {
        guard cursor.since == nil else {
            cursor.places = connections.indices.map { LogCursor.Place(connection: $0, next: nil, begin: 0) }
            return
        }
        let known = cursor.places
        cursor.places = known.filter { connections.contains($0.connection) }
        for connection in connections.indices where !known.contains(where: { $0.connection == connection }) {
            add(connection, to: &cursor)
        }
        for place in known where !connections.contains(place.connection) {
            let history = histories[Int(place.connection.number)]
            let last = history.records.last?.sequence ?? history.evictedThrough
            guard place.next.map({ $0 < history.endOrdinal }) ?? (last > cursor.position) else { continue }
            let count = place.start == nil ? place.next.map { history.endOrdinal - $0 } : nil
            cursor.loss =
                cursor.loss + LogCursor.Loss(count: count, last: last, from: cursor.position)
        }
    }

    private func sequenceBeforeOldest(of connections: ConnectionSelection) -> UInt64 {
        connections.indices.compactMap { histories[Int($0.number)].sequenceBeforeOldest }.min()
            ?? headSequence
    }

    private func cursor(before count: Int, of connections: ConnectionSelection) -> LogCursor {
        var cursor = cursorAtHead(of: connections)
        cursor.wanted = count
        cursor.back = headSequence + 1
        return cursor
    }
}
