internal import BridgeCore

extension EventHub {
    /// Breaks every silence that has lasted for `keepAlive`, in the formats that have something for it.
    func scheduleKeepAlive() {
        let talking = feeds.all.lazy.filter(\.format.isEventStream)
        guard keepAliveTimer == nil, let oldest = talking.map(\.lastWrite).min() else { return }
        let delay = max(.milliseconds(1), oldest + settings.keepAlive - loop.now)
        keepAliveTimer = loop.startTimer(after: delay) { [unowned self] in
            keepAliveTimer = nil
            breakSilence()
            scheduleKeepAlive()
        }
    }

    private func breakSilence() {
        let now = loop.now
        for feed in feeds.all where feed.format.isEventStream && now - feed.lastWrite >= settings.keepAlive {
            feed.lastWrite = now
            var comment: [UInt8] = []
            feed.encoder.appendKeepAlive(to: &comment)
            let head = log.headSequence
            var position: [UInt8] = []
            feed.encoder.appendPosition(head, to: &position)
            let isMoved = feed.index.headSequence < head
            for subscriber in feed.subscribers {
                if isBehind(subscriber, head) {
                    subscriber.phase = .waiting(head)
                    sendAlone(position, to: subscriber)
                } else if !isMoved || subscriber.position(in: feed) == nil {
                    sendAlone(comment, to: subscriber)
                }
            }
            guard isMoved else { continue }
            markDirty(feed)
            feed.append(position, at: head, limit: feeds.bytesPerFeed)
        }
    }

    /// Whether a subscriber waits, and can be told now, that was not told of all that passed it.
    private func isBehind(_ subscriber: Subscriber, _ head: UInt64) -> Bool {
        // Nobody is told of a position that is beyond a record which comes next.
        guard case .waiting(let told) = subscriber.phase, subscriber.feed.firstNews == nil,
            !subscriber.hasPage
        else { return false }
        return told < head
    }

    /// Sends a subscriber that has everything something that is no event; others are not silent.
    private func sendAlone(_ bytes: [UInt8], to subscriber: Subscriber) {
        guard !subscriber.hasPage else { return }
        if let position = subscriber.position(in: subscriber.feed), position < subscriber.feed.bytes.head {
            return
        }
        subscriber.enqueue(bytes)
        proceed(subscriber)
    }

    // MARK: Idling

    /// Ends a subscriber that wished so once no record came for it for a while.
    func watchIdling(_ subscriber: Subscriber) {
        guard let limit = subscriber.idle, !subscriber.isGone, !subscriber.isEnding else { return }
        let due = lastNews(for: subscriber) + limit
        // It has not read what came last, so that was not long ago for it.
        let delay = due > loop.now ? due - loop.now : limit
        subscriber.idleTimer = loop.startTimer(after: delay) { [weak self, weak subscriber] in
            guard let self, let subscriber else { return }
            if isIdle(subscriber, for: limit) { endCleanly(subscriber) }
            watchIdling(subscriber)
        }
    }

    func lastNews(for subscriber: Subscriber) -> Instant {
        guard subscriber.position(in: subscriber.feed) != nil, let last = subscriber.feed.lastRecord else {
            return subscriber.lastMove
        }
        return max(subscriber.lastMove, last)
    }

    /// Whether it has got everything, and nothing came for that long.
    private func isIdle(_ subscriber: Subscriber, for limit: Duration) -> Bool {
        let silence = loop.now - lastNews(for: subscriber)
        guard silence >= limit, !subscriber.hasPage, !subscriber.isBlocked else { return false }
        switch subscriber.phase {
        case .replaying(let cursor):
            switch refill(subscriber, cursor) {
            case .filled: proceed(subscriber)
            case .atHead: return true
            case .searching, .gone: break
            }
            return false
        case .waiting:
            return subscriber.feed.firstNews == nil
        case .live:
            return subscriber.position(in: subscriber.feed) == subscriber.feed.bytes.head
        case .ending, .gone:
            return false
        }
    }
}
