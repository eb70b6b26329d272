package import BridgeCore

extension EventHub {
    /// The connections that a merged stream shows now.
    package func selection(of scope: ConnectionScope) -> ConnectionSelection {
        ConnectionSelection(log.connections(where: scope.covers))
    }

    /// Has every merged stream show what its scope covers now, but for a connection that is about to go.
    func reselect(without leaving: ConnectionIndex? = nil) {
        let merged = allSubscribers.filter { $0.scope != nil }
        guard !merged.isEmpty else { return }
        deliver()
        for subscriber in merged where !subscriber.isGone && !subscriber.isEnding {
            guard let scope = subscriber.scope else { continue }
            let selection = ConnectionSelection(selection(of: scope).indices.filter { $0 != leaving })
            if selection != subscriber.feed.filter.connections { move(subscriber, to: selection) }
        }
    }

    /// Has a subscriber go on with the feed of other connections, from where it stands.
    private func move(_ subscriber: Subscriber, to connections: ConnectionSelection) {
        catchUp(subscriber)
        guard case .replaying(var cursor) = subscriber.phase else { return }
        log.reselect(&cursor, connections)
        subscriber.phase = .replaying(cursor)
        let old = subscriber.feed
        var key = old.key
        key.shape.filter.connections = connections
        let new = feed(key)
        // So that no silence becomes longer than it may; others may get a comment early.
        new.lastWrite = min(new.lastWrite, old.lastWrite)
        old.others[ObjectIdentifier(subscriber)] = nil
        if old.isEmpty { feeds.remove(old) }
        subscriber.feed = new
        new.others[ObjectIdentifier(subscriber)] = subscriber
        watchSpeed(subscriber)
        if !subscriber.isBlocked { proceed(subscriber) }
        audienceChanged(of: old.filter.connections)
        audienceChanged(of: connections)
    }

    /// Has a subscriber read on its own, with what it is due by now in its page if that is not much.
    private func catchUp(_ subscriber: Subscriber) {
        let feed = subscriber.feed
        if let position = subscriber.position(in: feed) {
            subscriber.lastMove = lastNews(for: subscriber)
            guard feed.bytes.head - position <= UInt64(Feed.largeBytes) else {
                return leaveBehind(subscriber)
            }
            let records = feed.index.lag(at: position) ?? 0
            detach(subscriber)
            subscriber.enqueue(feed.rest(from: position), records: records)
            subscriber.phase = .replaying(log.cursor(at: .now, of: feed.filter.connections))
        } else if subscriber.isWaiting {
            subscriber.phase = .replaying(log.cursor(at: .now, of: feed.filter.connections))
        } else if !subscriber.hasPage, case .replaying(let cursor) = subscriber.phase {
            _ = refill(subscriber, cursor)
        }
    }
}
