internal import BridgeCore

extension EventHub {
    /// How much one subscriber may be written in a turn before the others get theirs.
    private static let pagesPerTurn = 4
    /// What is read from the log for one subscriber at a time; a larger record comes alone.
    private static let pageBytes = Feed.largeBytes
    private static let pageRecords = 512
    /// What a record counts for at least, as the bytes around its payload have to be held as well.
    private static let leastPerRecord = pageBytes / pageRecords

    // MARK: Moving on

    /// Writes to a subscriber what is there for it, as far as its client takes it.
    func proceed(_ subscriber: Subscriber) {
        guard subscriber.channel.delivery == .direct else { return subscriber.channel.wake() }
        for _ in 0..<EventHub.pagesPerTurn {
            if subscriber.hasPage {
                switch subscriber.writePage() {
                case .written where !subscriber.hasPage: break
                case .written, .blocked: return subscriber.watchWriting()
                case .gone: return drop(subscriber)
                }
            }
            guard advance(subscriber) else { return }
        }
        // The rest follows when the socket is found writable, after everyone else's turn.
        subscriber.watchWriting()
    }

    /// Does the next step of a subscriber that is written to directly and has no page left.
    ///
    /// - Returns: whether there is a page now.
    private func advance(_ subscriber: Subscriber) -> Bool {
        switch subscriber.phase {
        case .replaying(let cursor):
            switch refill(subscriber, cursor) {
            case .filled: return true
            case .atHead: join(subscriber)
            case .searching, .gone: break
            }
            return false
        case .waiting:
            return false
        case .live:
            guard let slot = subscriber.slot else { return false }
            switch subscriber.feed.write(to: slot) {
            case .complete: break
            case .blocked: subscriber.watchWriting()
            case .gone: drop(subscriber)
            }
            return false
        case .ending:
            drop(subscriber)
            return false
        case .gone:
            return false
        }
    }

    /// Gives a pulled subscriber at most `count` bytes.
    func pull(_ subscriber: Subscriber, _ count: Int) -> StreamPull {
        while true {
            if subscriber.hasPage { return .bytes(subscriber.takePage(count)) }
            switch subscriber.phase {
            case .replaying(let cursor):
                guard admits(subscriber, cursor) else { return .nothing }
                switch refill(subscriber, cursor) {
                case .filled: continue
                case .gone: return .abort
                case .searching: return .nothing
                case .atHead where subscriber.remaining != nil: wait(subscriber)
                case .atHead:
                    subscriber.phase = .live(subscriber.feed.bytes.head)
                    impatient[ObjectIdentifier(subscriber)] = nil
                }
            case .waiting:
                return .nothing
            case .live(let position):
                let bytes = subscriber.feed.slice(from: position, count: count)
                guard !bytes.isEmpty else { return .nothing }
                subscriber.phase = .live(position + UInt64(bytes.count))
                return .bytes(bytes[...])
            case .ending:
                forget(subscriber)
                return .end
            case .gone:
                return .end
            }
        }
    }

    /// What came of looking for more for a subscriber.
    enum Refill {
        /// It has a page.
        case filled
        /// Nothing follows its cursor.
        case atHead
        /// It looks on when others have had their turn.
        case searching
        /// It was too slow.
        case gone
    }

    /// Makes a page of what follows the cursor in the log.
    func refill(_ subscriber: Subscriber, _ cursor: LogCursor) -> Refill {
        guard !isOutrun(subscriber) else {
            drop(subscriber)
            return .gone
        }
        guard !subscriber.isSearching else { return .searching }
        expire()
        let filter = subscriber.feed.filter
        var cursor = cursor
        if cursor.isSeeking {
            let isFound = log.goBack(&cursor, by: filter, &allowance)
            subscriber.phase = .replaying(cursor)
            guard isFound else { return search(for: subscriber) }
        }
        memory.pages = pages.bytes
        let size = memory.pageSize(wanted: EventHub.pageBytes)
        var draft = Draft()
        while subscriber.remaining != 0 {
            let entries = log.read(
                &cursor,
                maxRecords: min(EventHub.pageRecords, size / EventHub.leastPerRecord),
                maxBytes: size
            )
            subscriber.phase = .replaying(cursor)
            guard !entries.isEmpty else { return tellPosition(subscriber, cursor) ? .filled : .atHead }
            for entry in entries where subscriber.remaining != 0 {
                add(entry, by: filter, to: &draft, for: subscriber)
            }
            if !draft.bytes.isEmpty { subscriber.lastMove = loop.now }
            guard draft.bytes.isEmpty, !subscriber.hasPage else { break }
            if skip(&cursor, by: subscriber.feed) { subscriber.phase = .replaying(cursor) }
            if allowance.isSpent, cursor.position < log.headSequence { return search(for: subscriber) }
        }
        if subscriber.remaining == 0 {
            draft.bytes += subscriber.feed.key.framing.end
            subscriber.phase = .ending
        }
        subscriber.enqueue(draft.bytes, records: draft.records)
        subscriber.hasID = true
        return .filled
    }

    /// What is to be added to a page in one piece.
    private struct Draft {
        var bytes: [UInt8] = []
        var records = 0
    }

    private func add(
        _ entry: LogEntry,
        by filter: StreamFilter,
        to draft: inout Draft,
        for subscriber: Subscriber
    ) {
        switch entry {
        case .gap(let gap):
            subscriber.feed.encoder.append(gap, to: &draft.bytes)
            countGap(of: subscriber)
        case .record(let record) where filter.accepts(record):
            subscriber.remaining = subscriber.remaining.map { $0 - 1 }
            subscriber.lastMove = loop.now
            let name = log.name(of: record.connection)
            guard record.byteCount > Feed.largeBytes else {
                subscriber.feed.encoder.append(record, of: name, to: &draft.bytes)
                draft.records += 1
                return
            }
            subscriber.enqueue(draft.bytes, records: draft.records)
            draft = Draft()
            let large = subscriber.feed.page(record, of: name)
            lastLarge = large
            subscriber.enqueue(large, records: 1)
        case .record(let record):
            allowance.spend(on: record, filter)
        }
    }

    /// Makes a page of the id at which a subscriber stands that has got none, if its format has one.
    ///
    /// A client that is interrupted before its first event would come back without an id, and lose what came meanwhile.
    private func tellPosition(_ subscriber: Subscriber, _ cursor: LogCursor) -> Bool {
        guard !subscriber.hasID else { return false }
        subscriber.hasID = true
        var position: [UInt8] = []
        subscriber.feed.encoder.appendPosition(cursor.position, to: &position)
        subscriber.enqueue(position)
        return subscriber.hasPage
    }

    /// Lets a subscriber that has reached the head get the feed's bytes, unless it has a limit to count to.
    private func join(_ subscriber: Subscriber) {
        guard subscriber.remaining == nil else { return wait(subscriber) }
        let feed = subscriber.feed
        feed.others[ObjectIdentifier(subscriber)] = nil
        impatient[ObjectIdentifier(subscriber)] = nil
        subscriber.phase = .live(feed.bytes.head)
        feed.live.add(subscriber, descriptor: subscriber.channel.descriptor, position: feed.bytes.head)
    }

    /// Lets a subscriber that has reached the head wait for the feed's next record: what passes meanwhile is not for it,
    /// so it cannot lose that.
    private func wait(_ subscriber: Subscriber) {
        subscriber.phase = .waiting(log.headSequence)
    }

    /// Has those who wait read on from the first record that came for them.
    func endWaiting(_ feed: Feed, for first: UInt64) {
        for subscriber in feed.others.values {
            guard case .waiting(let seen) = subscriber.phase else { continue }
            let cursor = log.cursor(following: max(seen, first - 1), of: feed.filter.connections)
            subscriber.phase = .replaying(cursor)
        }
    }

    /// Lets a subscriber that lags more than the feed holds go on reading the log.
    func leaveBehind(_ subscriber: Subscriber) {
        let feed = subscriber.feed
        guard let position = subscriber.position(in: feed) else { return }
        _ = feed.live.remove(subscriber)
        let rest = feed.rest(at: position)
        if let page = rest.page { subscriber.enqueue(page.bytes, from: page.start) }
        let cursor = log.cursor(following: rest.sequence, of: feed.filter.connections)
        subscriber.phase = .replaying(cursor)
        feed.others[ObjectIdentifier(subscriber)] = subscriber
        watchSpeed(subscriber)
    }
}

extension Subscriber {
    /// Watches for the client's end only.
    func watchReading() {
        isBlocked = false
        watch?.watch(for: [.reading, .hangUp])
    }

    /// Watches for room in the socket, too.
    func watchWriting() {
        isBlocked = true
        watch?.watch(for: [.reading, .hangUp, .writing])
    }
}
