/// Reading what is on disk alone.
///
/// A reader that stands before the newest record which is not in memory, of all its connections, gets pages of what is
/// on disk, up to that one, and what could not be stored and is in memory; from there on memory has everything.
extension EventLog {
    /// What the store has to be asked before a cursor can be moved on; nil: nothing.
    package func question(for cursor: LogCursor, maxRecords: Int, maxBytes: Int) -> StoreQuestion? {
        guard isStored else { return nil }
        if let time = cursor.since { return .since(time, of: storedConnections(of: cursor)) }
        let floor = diskFloor(of: cursor)
        let isGoingBack = cursor.wanted > 0
        guard isGoingBack ? cursor.back - 1 <= floor && cursor.back > 1 : cursor.position < floor else {
            return nil
        }
        var request = StorePageRequest(
            after: isGoingBack ? 0 : cursor.position,
            through: isGoingBack ? cursor.back - 1 : floor,
            of: storedConnections(of: cursor),
            maxRecords: max(1, maxRecords),
            maxBytes: maxBytes
        )
        request.isDescending = isGoingBack
        if !isGoingBack {
            request.starts = cursor.places.compactMap { place in
                guard place.next == nil, !place.takesOldest else { return nil }
                return histories[Int(place.connection.number)].disk?.id
            }
        }
        return .page(request)
    }

    private func storedConnections(of cursor: LogCursor) -> [StoredConnectionID] {
        cursor.places.compactMap { histories[Int($0.connection.number)].disk?.id }
    }

    /// Moves a cursor by the answer to its question; returns what its reader gets, oldest first.
    ///
    /// `filter` is what the reader wants, for one that goes back.
    package func read(
        _ cursor: inout LogCursor,
        _ answer: StoreAnswer,
        by filter: StreamFilter
    ) -> [LogEntry] {
        switch answer {
        case .since(let position):
            if let time = cursor.since {
                let connections = ConnectionSelection(cursor.places.map(\.connection))
                cursor = self.cursor(since: time, of: connections, before: min(position ?? .max, cursor.back))
            }
            return []
        case .page(let page) where cursor.isSeeking:
            _ = goBack(&cursor, by: filter, page)
            return []
        case .page(let page):
            return read(&cursor, page)
        }
    }

    /// The sequence up to which records of these connections may be on disk alone.
    func diskFloor(of cursor: LogCursor) -> UInt64 {
        guard isStored else { return 0 }
        return cursor.places.reduce(0) { max($0, histories[Int($1.connection.number)].diskFloor) }
    }

    private func read(_ cursor: inout LogCursor, _ page: StorePage) -> [LogEntry] {
        find(page.starts, &cursor)
        if page.isDamaged { noteDamage(page, &cursor) }
        let records = records(of: page, in: cursor.position..<page.position + 1, cursor)
        var upcoming: [ConnectionIndex: [UInt64]] = [:]
        for (record, ordinal) in records.reversed() {
            upcoming[record.connection, default: []].append(ordinal)
        }
        var entries: [LogEntry] = []
        for (record, ordinal) in records {
            guard let place = cursor.places.firstIndex(where: { $0.connection == record.connection }) else {
                continue
            }
            loseGone(&cursor, before: record.sequence, upcoming)
            upcoming[record.connection]?.removeLast()
            reach(ordinal, of: place, at: record.sequence, &cursor)
            // Told of as lost, where that could not be told apart.
            guard ordinal >= cursor.places[place].next ?? ordinal else { continue }
            if let gap = announceLoss(of: &cursor, before: record.sequence) { entries.append(.gap(gap)) }
            entries.append(.record(record))
            cursor.took(record.sequence, ordinal, of: place)
        }
        loseGone(&cursor, before: page.position + 1, upcoming)
        cursor.position = max(cursor.position, page.position)
        if cursor.position >= headSequence {
            // Nothing follows that would show what is missing at the end.
            for index in cursor.places.indices {
                lose(index, of: &cursor, before: page.position + 1, isCached: true)
            }
        }
        return entries
    }

    /// Has places stand where the store has found them to be.
    private func find(_ starts: [StoredConnectionID: StoredStart], _ cursor: inout LogCursor) {
        for index in cursor.places.indices {
            let place = cursor.places[index]
            guard place.next == nil, !place.takesOldest else { continue }
            let history = histories[Int(place.connection.number)]
            guard let id = history.disk?.id, !findGone(index, &cursor) else { continue }
            // Where it has gone without that being known here, everything before counts.
            var start = starts[id] ?? StoredStart(sequence: 0, next: 0)
            if start.next < history.firstOrdinal {
                start = StoredStart(sequence: history.evictions.last, next: history.firstOrdinal)
            }
            let position = cursor.position
            let skips = history.disk?.skips ?? []
            if let skip = skips.last(where: { $0.sequences.upperBound <= position }), skip.next > start.next {
                start = StoredStart(sequence: skip.sequences.upperBound, next: skip.next)
            }
            let next = start.next
            let mayHaveSkipped = skips.contains { $0.next > next && $0.sequences.lowerBound <= position }
            cursor.places[index].next = start.next
            if start.sequence < cursor.position, starts[id] == nil || mayHaveSkipped {
                cursor.places[index].start = LogCursor.Start(stored: start.sequence, seen: cursor.position)
            }
        }
    }

    /// Has a reader who takes whatever is the oldest miss what is kept and cannot be read.
    private func noteDamage(_ page: StorePage, _ cursor: inout LogCursor) {
        for index in cursor.places.indices where cursor.places[index].next == nil {
            let history = histories[Int(cursor.places[index].connection.number)]
            guard let disk = history.disk else { continue }
            let next = max(history.firstOrdinal, page.starts[disk.id]?.next ?? 0)
            if disk.skips.contains(where: { $0.next > next }) {
                // What could not be stored has an ordinal, and was not kept.
                lose(through: page.position, &cursor)
            } else {
                cursor.places[index].next = next
                cursor.places[index].takesOldest = false
            }
        }
    }

    /// Has a place stand before what is gone, if that is next.
    func findGone(_ index: Int, _ cursor: inout LogCursor) -> Bool {
        let evictions = histories[Int(cursor.places[index].connection.number)].evictions
        guard evictions.last > cursor.position else { return false }
        let (next, unknown) = evictions.ordinal(after: cursor.position)
        cursor.places[index].next = next
        if let unknown { lose(through: unknown, &cursor) }
        return true
    }

    /// Notes what is gone before a sequence, but for what the page has all the same.
    private func loseGone(
        _ cursor: inout LogCursor,
        before limit: UInt64,
        _ upcoming: [ConnectionIndex: [UInt64]]
    ) {
        for index in cursor.places.indices {
            let place = cursor.places[index]
            let first = upcoming[place.connection]?.last
            guard let next = place.next, first != next else { continue }
            lose(index, of: &cursor, before: limit, isCached: false)
            let history = histories[Int(place.connection.number)]
            // It is known how many are missing, and not where: rather too early than never.
            if let first, let next = cursor.places[index].next, next >= history.firstOrdinal, next < first {
                cursor.lose(index, to: first, last: limit - 1)
            }
        }
        passGaps(&cursor, before: limit)
    }

    /// Has a place stand before a record, and notes what was lost before it.
    private func reach(_ ordinal: UInt64, of place: Int, at sequence: UInt64, _ cursor: inout LogCursor) {
        if cursor.places[place].next == nil {
            cursor.places[place].next = ordinal
            cursor.places[place].takesOldest = false
        }
        cursor.lose(place, to: ordinal, last: sequence - 1)
    }

    /// The records of a page, ascending, and with them those of these sequences that are in memory and not on disk: they
    /// could not be stored, or were trimmed a moment ago.
    func records(
        of page: StorePage,
        in sequences: Range<UInt64>,
        _ cursor: LogCursor
    ) -> [(record: Record, ordinal: UInt64)] {
        var found: [(record: Record, ordinal: UInt64)] = []
        for stored in page.records {
            guard let connection = connections[stored.connection],
                let record = Record(stored, of: connection)
            else { continue }
            found.append((record, stored.ordinal))
        }
        var known: Set<UInt64>?
        let count = found.count
        for place in cursor.places {
            let history = histories[Int(place.connection.number)]
            var ordinal = history.ordinal(after: sequences.lowerBound)
            while let record = history.record(at: ordinal), record.sequence < sequences.upperBound {
                if known == nil { known = Set(page.records.map(\.sequence)) }
                if known?.contains(record.sequence) == false { found.append((record, ordinal)) }
                ordinal += 1
            }
        }
        let isAscending = page.records.count < 2 || page.records[0].sequence < page.records[1].sequence
        if found.count > count || !isAscending { found.sort { $0.record.sequence < $1.record.sequence } }
        return found
    }

    // MARK: Sequences that were skipped

    /// Notes what an id was lost after that nobody can know any more.
    func noteGap(at cursor: inout LogCursor) {
        guard cursor.position < gapsThrough else { return }
        let position = cursor.position
        for gap in gaps where gap.sequences.lowerBound <= position && position < gap.sequences.upperBound {
            lose(through: gap.sequences.upperBound, &cursor)
        }
    }

    /// Notes that records may have been lost in those before a sequence, by a power cut or as nothing could be stored.
    func passGaps(_ cursor: inout LogCursor, before limit: UInt64) {
        guard cursor.position < gapsThrough else { return }
        for gap in gaps where gap.mayHaveLost {
            // One that the reader stands in was noted when it came.
            let (first, last) = (gap.sequences.lowerBound, gap.sequences.upperBound)
            if cursor.position < first, last < limit { lose(through: last, &cursor) }
        }
    }
}
