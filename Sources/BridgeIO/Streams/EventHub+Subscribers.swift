internal import BridgeCore

extension EventHub {
    /// How much one subscriber may be written in a turn before the others get theirs.
    private static let pagesPerTurn = 4

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
            drop(subscriber, because: .done)
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
                forget(subscriber, because: .done)
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
            drop(subscriber, because: .slow)
            return .gone
        }
        guard !subscriber.isSearching else { return .searching }
        expire()
        let filter = subscriber.feed.filter
        var cursor = cursor
        if cursor.isSeeking {
            guard question(for: cursor) == nil else { return ask(for: subscriber) }
            let isFound = log.goBack(&cursor, by: filter, &allowance)
            subscriber.phase = .replaying(cursor)
            guard isFound else {
                return question(for: cursor) == nil ? search(for: subscriber) : ask(for: subscriber)
            }
        }
        let size = pageSize
        var page = PageDraft()
        while subscriber.remaining != 0 {
            guard question(for: cursor) == nil else { return ask(for: subscriber) }
            let entries = log.read(&cursor, maxRecords: size.records, maxBytes: size.bytes)
            subscriber.phase = .replaying(cursor)
            guard !entries.isEmpty else { return reachHead(subscriber, cursor) }
            add(entries, to: &page, of: subscriber)
            guard page.isEmpty, !subscriber.hasPage else { break }
            if skip(&cursor, by: subscriber.feed) { subscriber.phase = .replaying(cursor) }
            if allowance.isSpent, cursor.position < log.headSequence { return search(for: subscriber) }
        }
        finish(page, of: subscriber)
        return .filled
    }

    private func reachHead(_ subscriber: Subscriber, _ cursor: LogCursor) -> Refill {
        guard subscriber.endsAtHead else { return tellPosition(subscriber, cursor) ? .filled : .atHead }
        conclude(subscriber)
        return .filled
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
