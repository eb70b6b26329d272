extension EventLog {
    /// The next entries, oldest first: at most `maxRecords` records, of `maxBytes` together.
    ///
    /// A larger record comes as the only one. Nothing comes if and only if the cursor has reached the head. Lost
    /// records are told of by a gap where they stood, one for each run of them. Costs O(1) at the head.
    ///
    /// What `question` wants to know has to be answered first.
    package func read(_ cursor: inout LogCursor, maxRecords: Int, maxBytes: Int) -> [LogEntry] {
        guard hasMore(for: cursor) else { return [] }
        findPlaces(of: &cursor)
        if cursor.places.count > 1, hasLostNothing(cursor) {
            return readKept(&cursor, maxRecords: max(1, maxRecords), maxBytes: maxBytes)
        }
        var entries: [LogEntry] = []
        var room = (records: max(1, maxRecords), bytes: maxBytes)
        while true {
            let next = nextRecord(of: cursor)
            if let gap = announce(&cursor, before: next?.sequence) { entries.append(.gap(gap)) }
            guard let next else { break }
            let rival = nextSequence(of: cursor, beside: next.place)
            let history = histories[Int(cursor.places[next.place].connection.number)]
            while let ordinal = cursor.places[next.place].next, let record = history.record(at: ordinal),
                record.sequence < rival
            {
                let isFirst = room.records == max(1, maxRecords)
                guard room.records > 0, isFirst || room.bytes >= record.byteCount else { return entries }
                entries.append(.record(record))
                cursor.took(record.sequence, ordinal, of: next.place)
                room.records -= 1
                room.bytes -= record.byteCount
            }
        }
        cursor.position = headSequence
        return entries
    }

    /// Whether `read` would move the cursor.
    package func hasMore(for cursor: LogCursor) -> Bool {
        cursor.position < headSequence || cursor.loss != nil
    }

    private func hasLostNothing(_ cursor: LogCursor) -> Bool {
        cursor.loss == nil && cursor.position >= gapsThrough
            && cursor.places.allSatisfy { place in
                place.next.map { $0 >= histories[Int(place.connection.number)].cachedOrdinal } ?? false
            }
    }

    /// Has every place stand before a record that is in memory, if it was not known yet where it stands.
    private func findPlaces(of cursor: inout LogCursor) {
        for index in cursor.places.indices where cursor.places[index].next == nil {
            let isExact = !cursor.places[index].takesOldest
            cursor.places[index].takesOldest = false
            // All of it may have gone while it waited for the disk.
            if isExact, findGone(index, &cursor) { continue }
            let history = histories[Int(cursor.places[index].connection.number)]
            cursor.places[index].next = history.ordinal(after: cursor.position)
        }
    }

    /// The next records where there is nothing to announce; a record costs little more for many connections.
    private func readKept(_ cursor: inout LogCursor, maxRecords: Int, maxBytes: Int) -> [LogEntry] {
        var heap = PlaceHeap(
            cursor.places.enumerated().compactMap { index, place in
                record(at: place).map { (key: $0.sequence, place: index) }
            }
        )
        var entries: [LogEntry] = []
        var room = maxBytes
        while let (_, place) = heap.first, let next = record(at: cursor.places[place]),
            let ordinal = cursor.places[place].next
        {
            guard entries.count < maxRecords, entries.isEmpty || room >= next.byteCount else {
                return entries
            }
            entries.append(.record(next))
            room -= next.byteCount
            cursor.took(next.sequence, ordinal, of: place)
            heap.replaceFirst(key: record(at: cursor.places[place])?.sequence)
        }
        cursor.position = headSequence
        return entries
    }

    private func record(at place: LogCursor.Place) -> Record? {
        place.next.flatMap { histories[Int(place.connection.number)].record(at: $0) }
    }

    /// Which connection has the next record that is kept.
    private func nextRecord(of cursor: LogCursor) -> (place: Int, sequence: UInt64)? {
        var next: (place: Int, sequence: UInt64)?
        for (index, place) in cursor.places.enumerated() {
            let history = histories[Int(place.connection.number)]
            guard let sequence = history.record(at: max(place.next ?? 0, history.cachedOrdinal))?.sequence
            else { continue }
            if let next, next.sequence < sequence { continue }
            next = (index, sequence)
        }
        return next
    }

    /// The sequence from which another connection has something, be it lost.
    private func nextSequence(of cursor: LogCursor, beside chosen: Int) -> UInt64 {
        var next = UInt64.max
        for (index, place) in cursor.places.enumerated() where index != chosen {
            let history = histories[Int(place.connection.number)]
            guard let ordinal = place.next else { continue }
            if ordinal < history.firstOrdinal {
                next = min(next, history.evictions.sequence(of: ordinal))
            } else if let record = history.record(at: ordinal) {
                next = min(next, record.sequence)
            }
        }
        return next
    }

    /// Moves the cursor beyond what it lost before the next record that is kept, and says so.
    private func announce(_ cursor: inout LogCursor, before next: UInt64?) -> Gap? {
        for index in cursor.places.indices {
            lose(index, of: &cursor, before: next ?? .max, isCached: true)
        }
        passGaps(&cursor, before: next ?? .max)
        return announceLoss(of: &cursor, before: next)
    }

    /// Moves a place beyond what is gone before a sequence.
    func lose(_ index: Int, of cursor: inout LogCursor, before limit: UInt64, isCached: Bool) {
        let place = cursor.places[index]
        let history = histories[Int(place.connection.number)]
        while let ordinal = cursor.places[index].next,
            let losses = history.losses(from: ordinal, before: limit, isCached: isCached)
        {
            cursor.lose(index, to: losses.end, last: losses.last)
        }
    }

    /// Says what the reader has lost, if it has, before the next record.
    func announceLoss(of cursor: inout LogCursor, before next: UInt64?) -> Gap? {
        guard let loss = cursor.loss else { return nil }
        // An id beyond the next record would skip it for a reader that comes back with that id.
        cursor.position = max(cursor.position, next.map { min(loss.last, $0 - 1) } ?? loss.last)
        cursor.loss = nil
        return Gap(missed: loss.count, id: id(cursor.position), oldest: next.map(id))
    }
}
