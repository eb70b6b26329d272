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
            guard feed.index.headSequence < log.headSequence else {
                for subscriber in feed.subscribers { sendAlone(comment, to: subscriber) }
                continue
            }
            var position: [UInt8] = []
            feed.encoder.appendPosition(log.headSequence, to: &position)
            // To those who wait no position that is beyond a record that they get next.
            let isQuiet = feed.firstNews == nil
            for subscriber in feed.others.values where subscriber.position(in: feed) == nil {
                sendAlone(subscriber.isWaiting && isQuiet ? position : comment, to: subscriber)
            }
            markDirty(feed)
            feed.append(position, at: log.headSequence, limit: feeds.bytesPerFeed)
        }
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
