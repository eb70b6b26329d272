package import BridgeCore
package import WebSocketProtocol

extension EventHub {
    /// Adds a record, stamped with the time of day; it goes out with the next `deliver()`, where there is a store with
    /// the next one after it was stored.
    @discardableResult package func append(
        _ payload: Record.Payload,
        of connection: ConnectionIndex,
        direction: Record.Direction = .received,
        topic: String? = nil
    ) -> EventID {
        if store == nil {
            show(log.append(payload, of: connection, direction: direction, at: loop.wallTime, topic: topic))
        } else {
            stage(payload, of: connection, direction, topic: topic)
        }
        return log.newest
    }

    /// Hands a record of the log to whoever is waiting for such.
    func show(_ record: Record) {
        if isAgeing { watchAge() }
        polls.noticed(record)
        fitMemory()
        let takers = feeds.takers(of: record)
        if !takers.isEmpty { publish(record, to: takers) }
    }

    private func publish(_ record: Record, to takers: [Feed]) {
        let name = log.name(of: record.connection)
        let limit = feeds.bytesPerFeed
        let now = loop.now
        changedAudiences = []
        for feed in takers where !feed.isEmpty {
            markDirty(feed)
            feed.append(record, of: name, now: now, scratch: &scratch, limit: limit)
            feed.trim(to: limit) { leaveBehind($0) }
            // What is left nobody has got yet: who takes it now need not look for it in the log, which may have lost it.
            if feed.heldBytes > limit { deliverEarly(feed, limit) }
        }
        if scratch.capacity > EventHub.scratchBytes { scratch = [] }
        let changed = changedAudiences ?? []
        changedAudiences = nil
        for connections in changed { onAudienceChange(connections) }
    }

    /// Delivers what is too much to be held until the end of the turn.
    private func deliverEarly(_ feed: Feed, _ limit: Int) {
        deliver(feed, limit)
        // Those that read on their own still wait for the end of the turn.
        feed.isDirty = true
        relieve()
    }

    private func deliver(_ feed: Feed, _ limit: Int) {
        if let first = feed.firstNews { endWaiting(feed, for: first) }
        let (blocked, gone) = feed.deliver(now: loop.now)
        for subscriber in blocked { subscriber.watchWriting() }
        for subscriber in gone { drop(subscriber) }
        feed.trim(to: limit) { leaveBehind($0) }
    }

    func audienceChanged(of connections: ConnectionSelection) {
        if changedAudiences == nil {
            onAudienceChange(connections)
        } else {
            changedAudiences?.append(connections)
        }
    }

    /// Adds a message that was sent, where the history is to have those too.
    package func sent(_ message: Message, by connection: ConnectionIndex) {
        guard log.includesSent(connection) else { return }
        append(.message(message), of: connection, direction: .sent)
    }

    /// Has a feed delivered in the next `deliver()`; something is appended to it right after.
    func markDirty(_ feed: Feed) {
        if !feed.isDirty { dirty.append(feed) }
    }

    /// There is something to deliver.
    package var hasNews: Bool { !dirty.isEmpty || polls.hasNews || !searchers.isEmpty }

    /// Writes to every subscriber what has been appended since.
    package func deliver() {
        allowance = SearchAllowance()
        while let feed = dirty.popLast() {
            let others = feed.others.values
            deliver(feed, feeds.bytesPerFeed)
            for subscriber in others where !subscriber.isBlocked && !subscriber.isGone { proceed(subscriber) }
        }
        dropOutrun()
        for (waiting, first) in polls.takeDue() { waiting.notice(first) }
        resumeSearches()
        lastLarge = nil
        relieve()
        wakeWaiting()
        fitMemory()
    }
}
