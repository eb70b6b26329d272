package import BridgeCore

/// A poll whose answer waits for the first record, or for the end of its patience.
///
/// First it searches what there is, which may take several turns. Letting go of it has no effect: it is the hub's
/// until it is answered.
package final class WaitingPoll {
    private(set) var poll: Poll
    /// Who asks.
    let caller: Caller
    private unowned let hub: EventHub
    private let patience: Duration
    private var answer: ((PollPage?) -> Void)?
    private var timer: LoopTimer?
    /// It is in line for looking through what there is.
    var isSearching = false
    /// The first record that came for it since it began to look.
    private var news: UInt64?

    fileprivate init(
        _ poll: Poll,
        of hub: EventHub,
        by caller: Caller,
        patience: Duration,
        answer: @escaping (PollPage?) -> Void
    ) {
        self.poll = poll
        self.caller = caller
        self.hub = hub
        self.patience = patience
        self.answer = answer
    }

    /// Looks on, and answers if that was all and there is something, or no patience to wait for it.
    ///
    /// - Returns: whether that was all, or it waits for the store.
    func search(_ allowance: inout SearchAllowance) -> Bool {
        guard answer != nil else { return true }
        switch poll.read(hub.log, &allowance) {
        case .through: break
        case .spent: return false
        case .asks:
            hub.ask(for: self)
            return true
        }
        return found()
    }

    /// What the store is to be asked; nil: nothing, or nobody waits any more.
    var question: StoreQuestion? {
        var allowance = SearchAllowance()
        guard answer != nil, case .asks(let question) = poll.read(hub.log, &allowance) else { return nil }
        return question
    }

    /// Goes on with what the store said; nil: nothing can be read.
    func take(_ said: StoreAnswer?) {
        guard answer != nil else { return }
        guard let said else { return fail() }
        if poll.take(said, in: hub.log, &hub.allowance) {
            isSearching = false
            give()
        } else {
            hub.search(for: self)
        }
    }

    /// It has looked through all that there was: returns whether that was all.
    private func found() -> Bool {
        if !poll.hasFound, let news {
            self.news = nil
            poll.skip(to: news, in: hub.log)
            return false
        }
        isSearching = false
        if poll.hasFound || patience <= .zero {
            give()
        } else if timer == nil {
            timer = hub.loop.startTimer(after: patience) { [weak self] in self?.finish() }
        }
        return true
    }

    /// Answers with what there is, maybe nothing; idempotent.
    func finish() {
        guard answer != nil else { return }
        hub.expire()
        // What passed since it had looked was not for it, and is no loss.
        if !isSearching {
            poll.skip(to: hub.polls.firstNews(for: poll.filter) ?? hub.log.headSequence + 1, in: hub.log)
        }
        var allowance = SearchAllowance()
        _ = poll.read(hub.log, &allowance)
        give()
    }

    /// Has it look on from the first record that came for it.
    func notice(_ first: UInt64) {
        if isSearching {
            news = news ?? first
        } else {
            poll.skip(to: first, in: hub.log)
            hub.search(for: self)
        }
    }

    private func give() { conclude(with: poll.page(hub.log)) }

    /// Answers with what it has; an answer without anything would look as if nothing followed.
    private func fail() { conclude(with: poll.hasFound ? poll.page(hub.log) : nil) }

    private func conclude(with page: PollPage?) {
        guard let answer else { return }
        self.answer = nil
        timer = nil
        hub.polls.leave(self)
        answer(page)
    }
}

extension EventHub {
    /// Answers a poll as soon as there is something, or when `patience` is over, but not before this returns.
    ///
    /// It is answered with nil if what is on disk cannot be read.
    /// The patience begins when what there is has been looked through.
    package func wait(
        _ poll: Poll,
        for patience: Duration,
        by caller: Caller = .anonymous,
        answer: @escaping (PollPage?) -> Void
    ) -> WaitingPoll {
        let waiting = WaitingPoll(poll, of: self, by: caller, patience: patience, answer: answer)
        polls.enter(waiting)
        search(for: waiting)
        return waiting
    }

    /// Answers a poll with what there is, maybe nothing; idempotent.
    package func answer(_ waiting: WaitingPoll) {
        waiting.finish()
    }
}
