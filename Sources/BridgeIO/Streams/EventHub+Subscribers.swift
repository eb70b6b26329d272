internal import BridgeCore

extension EventHub {
    /// How much one subscriber may be written in a turn before the others get theirs.
    private static let pagesPerTurn = 4
    /// What is read from the log for one subscriber at a time; a larger record comes alone.
    private static let pageBytes = 64 * 1024
    private static let pageRecords = 512

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
            if refill(subscriber, cursor) { return true }
            join(subscriber)
            return false
        case .live:
            guard let slot = subscriber.slot else { return false }
            switch subscriber.feed.write(to: slot) {
            case .written: break
            case .blocked: subscriber.watchWriting()
            case .gone: drop(subscriber)
            }
            return false
        case .ending:
            finish(subscriber)
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
                if refill(subscriber, cursor) { continue }
                guard subscriber.remaining == nil else { return .nothing }
                subscriber.phase = .live(subscriber.feed.bytes.head)
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

    /// Makes a page of what follows the cursor in the log.
    ///
    /// - Returns: false if nothing does.
    private func refill(_ subscriber: Subscriber, _ cursor: LogCursor) -> Bool {
        var cursor = cursor
        var page: [UInt8] = []
        while page.isEmpty, subscriber.remaining != 0 {
            let entries = log.read(
                &cursor,
                maxRecords: EventHub.pageRecords,
                maxBytes: EventHub.pageBytes
            )
            subscriber.phase = .replaying(cursor)
            guard !entries.isEmpty else { return false }
            for entry in entries where subscriber.remaining != 0 {
                encode(entry, for: subscriber, to: &page)
            }
        }
        if subscriber.remaining == 0 {
            page += subscriber.feed.shape.framing.end
            subscriber.phase = .ending
        }
        subscriber.enqueue(page)
        return true
    }

    private func encode(_ entry: LogEntry, for subscriber: Subscriber, to page: inout [UInt8]) {
        let feed = subscriber.feed
        switch entry {
        case .gap(let gap):
            feed.encoder.append(gap, to: &page)
            countGap()
        case .record(let record) where feed.shape.filter.accepts(record):
            feed.encoder.append(record, of: log.name(of: record.connection), to: &page)
            subscriber.remaining = subscriber.remaining.map { $0 - 1 }
        case .record:
            break
        }
    }

    /// Lets a subscriber that has reached the head get the feed's bytes, unless it has a limit to count to.
    private func join(_ subscriber: Subscriber) {
        guard subscriber.remaining == nil else { return }
        let feed = subscriber.feed
        feed.others[ObjectIdentifier(subscriber)] = nil
        subscriber.phase = .live(feed.bytes.head)
        feed.live.add(subscriber, descriptor: subscriber.channel.descriptor, position: feed.bytes.head)
    }

    /// Lets a subscriber that lags more than the feed holds go on reading the log.
    func leaveBehind(_ subscriber: Subscriber) {
        let feed = subscriber.feed
        guard let position = subscriber.position(in: feed) else { return }
        _ = feed.live.remove(subscriber)
        let rest = feed.rest(at: position)
        subscriber.enqueue(rest.bytes)
        let cursor = log.cursor(at: .after(log.id(rest.sequence)), of: feed.shape.filter.connections)
        subscriber.phase = .replaying(cursor)
        feed.others[ObjectIdentifier(subscriber)] = subscriber
    }

    // MARK: Ending

    /// Ends a subscriber's connection, which is not to be written to any more.
    func drop(_ subscriber: Subscriber) {
        guard !subscriber.isGone else { return }
        forget(subscriber)
        subscriber.channel.end()
    }

    private func finish(_ subscriber: Subscriber) { drop(subscriber) }

    /// Ends every stream: with a last `retry:`, so that not all clients come back at once, and a clean end.
    ///
    /// Those whose clients do not take it now get it when they do, until the loop stops.
    package func endAll() {
        deliver()
        end(allSubscribers)
    }

    /// Ends the streams that show this connection alone, in the same way.
    func endStreams(of connection: ConnectionIndex) {
        deliver()
        end(allSubscribers.filter { $0.feed.shape.filter.connections == ConnectionSelection(connection) })
    }

    private func end(_ subscribers: [Subscriber]) {
        for subscriber in subscribers {
            if let position = subscriber.position(in: subscriber.feed) {
                subscriber.enqueue(subscriber.feed.rest(from: position))
            } else if !subscriber.hasPage, case .replaying(let cursor) = subscriber.phase {
                _ = refill(subscriber, cursor)
            }
            _ = subscriber.feed.live.remove(subscriber)
            subscriber.feed.others[ObjectIdentifier(subscriber)] = subscriber
            if !subscriber.isEnding { subscriber.enqueue(farewell(of: subscriber.feed)) }
            subscriber.phase = .ending
            proceed(subscriber)
        }
    }

    /// Drops whoever is still there; the server must run afterwards to close their connections.
    package func dropAll() {
        for subscriber in allSubscribers { drop(subscriber) }
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
