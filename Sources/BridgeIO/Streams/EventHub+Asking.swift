internal import BridgeCore

/// Reading what is on disk alone: one page at a time for each reader, and few at a time for all of them.
extension EventHub {
    /// So many questions keep the disk busy, and bound what its answers take of the memory.
    private static let mostAsked = 2

    /// Has a subscriber ask the store when its turn comes.
    func ask(for subscriber: Subscriber) -> Refill {
        subscriber.isSearching = true
        askers.append(.subscriber(subscriber))
        askNext()
        return .searching
    }

    /// Has a poll do the same.
    func ask(for waiting: WaitingPoll) {
        waiting.isSearching = true
        askers.append(.poll(waiting))
        askNext()
    }

    private func askNext() {
        while askedCount < EventHub.mostAsked, let asker = askers.popFirst() {
            switch asker {
            case .subscriber(let subscriber): ask(subscriber)
            case .poll(let waiting): ask(waiting)
            }
        }
    }

    private func ask(_ question: StoreQuestion, completion: @escaping (StoreAnswer?) -> Void) {
        askedCount += 1
        store?.ask(question) { [unowned self] answer in
            askedCount -= 1
            completion(answer)
            askNext()
        }
    }

    private func ask(_ subscriber: Subscriber) {
        guard case .replaying(let cursor) = subscriber.phase, let question = question(for: cursor) else {
            subscriber.isSearching = false
            return resume(subscriber)
        }
        ask(question) { [self] answer in
            subscriber.isSearching = false
            // Its connections may have changed meanwhile.
            guard case .replaying(let current) = subscriber.phase, current == cursor else {
                return resume(subscriber)
            }
            // It comes back by the id that it has.
            guard let answer else { return drop(subscriber, because: .storage) }
            take(answer, cursor, subscriber)
            resume(subscriber)
        }
    }

    private func take(_ answer: StoreAnswer, _ cursor: LogCursor, _ subscriber: Subscriber) {
        var cursor = cursor
        let entries = log.read(&cursor, answer, by: subscriber.feed.filter)
        // What went away while it waited for the disk was not lost by being slow.
        log.forgive(&cursor)
        subscriber.phase = .replaying(cursor)
        var page = PageDraft()
        add(entries, to: &page, of: subscriber)
        finish(page, of: subscriber)
    }

    private func resume(_ subscriber: Subscriber) {
        if !subscriber.isGone, !subscriber.isBlocked { proceed(subscriber) }
    }

    private func ask(_ waiting: WaitingPoll) {
        guard let question = waiting.question else { return search(for: waiting) }
        ask(question) { answer in waiting.take(answer) }
    }

    /// What a subscriber has to ask of the store before it can read on.
    func question(for cursor: LogCursor) -> StoreQuestion? {
        guard store != nil else { return nil }
        let size = pageSize
        return log.question(for: cursor, maxRecords: size.records, maxBytes: size.bytes)
    }
}
