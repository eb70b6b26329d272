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

    /// Has a poll look on in one of the next rounds; idempotent.
    func search(for waiting: WaitingPoll) {
        guard !waiting.isSearching else { return }
        waiting.isSearching = true
        searchers.append(.poll(waiting))
    }

    /// Has those who search look on, each once at most, in the order in which they came to their last pause.
    func resumeSearches() {
        for _ in 0..<searchers.count {
            guard !allowance.isSpent, let searcher = searchers.popFirst() else { return }
            switch searcher {
            case .subscriber(let subscriber):
                subscriber.isSearching = false
                if !subscriber.isGone { proceed(subscriber) }
            case .poll(let waiting):
                if !waiting.search(&allowance) { searchers.append(searcher) }
            }
        }
    }
}
