internal import BridgeCore

/// Who has not found yet what it looks for in the log.
enum Searcher {
    case subscriber(Subscriber)
    case poll(WaitingPoll)
}

extension EventHub {
    /// Has a subscriber look on in one of the next rounds.
    func search(for subscriber: Subscriber) -> Refill {
        subscriber.isSearching = true
        searchers.append(.subscriber(subscriber))
        return .searching
    }

    /// Has a poll look through what follows its cursor in one of the next rounds.
    func search(for waiting: WaitingPoll) {
        waiting.isSearching = true
        searchers.append(.poll(waiting))
    }

    /// Moves a reader to the next record of its feed, if the feed has all that came since: there is no need to look
    /// through the log for what is known, and who does would not keep up with a fast upstream.
    ///
    /// - Returns: whether the cursor has moved.
    func skip(_ cursor: inout LogCursor, by feed: Feed) -> Bool {
        guard cursor.position < log.headSequence, let next = feed.index.next(after: cursor.position) else {
            return false
        }
        cursor = log.cursor(following: min(next - 1, log.headSequence), of: feed.filter.connections)
        return true
    }

    /// Has those who search look on, each once at most, in the order in which they came to their last pause.
    func resumeSearches() {
        for _ in 0..<searchers.count {
            guard !allowance.isSpent, let searcher = searchers.popFirst() else { return }
            switch searcher {
            case .subscriber(let subscriber):
                subscriber.isSearching = false
                // What went away while it was in line was not lost by being slow.
                if case .replaying(var cursor) = subscriber.phase {
                    log.forgive(&cursor)
                    subscriber.phase = .replaying(cursor)
                }
                if !subscriber.isGone { proceed(subscriber) }
            case .poll(let waiting):
                if !waiting.search(&allowance) { searchers.append(searcher) }
            }
        }
    }
}
