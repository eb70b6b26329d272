internal import BridgeCore

/// Where the loop and the writer's thread meet: changes go one way, news the other.
final class StoreMailbox: Sendable {
    /// What was given at one time.
    struct Letter: Sendable {
        enum Content: Sendable {
            case offers([StoreOffer], StorePromise)
            case facts([StoreFact])
            /// It was told before what is missing.
            case end
        }

        var ticket: StoreTicket
        var content: Content
        var cost: Int
    }

    private struct State {
        var letters: [Letter] = []
        /// What waits and what is being written.
        var cost = 0
        var lastTicket: UInt64 = 0
        var isClosing = false
        var news = StoreNews()
        /// When the writer began with what it is at.
        var busySince: Instant?
        var meter = StoreMeter()
        /// The writer waits, or is about to.
        var isAsleep = false
    }

    private let state = Guarded(State())
    private let doorbell = Doorbell()
    private let congestion: Int
    private let wake: @Sendable () -> Void

    /// `wake` is called on the writer's thread when there is news.
    init(congestion: Int, wake: @escaping @Sendable () -> Void) {
        self.congestion = congestion
        self.wake = wake
    }

    // MARK: The side of the loop

    /// Takes facts that were so before, and then offers, of which it may refuse all.
    func offer(
        _ offers: [StoreOffer],
        _ promise: StorePromise,
        behind facts: [StoreFact]
    ) throws(StoreRefusal) -> StoreTicket {
        let cost = offers.reduce(0) { $0 + $1.cost }
        let (result, rings) = state.withLock { state -> (Result<StoreTicket, StoreRefusal>, Bool) in
            if !facts.isEmpty { _ = put(facts, in: &state) }
            if let failure = state.news.failure {
                return (.failure(.unavailable(failure)), !facts.isEmpty && rouse(&state))
            }
            // One that is larger than all that fits is taken while there is little else.
            if state.cost > congestion, state.cost + cost > 2 * congestion {
                return (.failure(.overloaded), !facts.isEmpty && rouse(&state))
            }
            return (.success(put(.offers(offers, promise), cost, in: &state)), rouse(&state))
        }
        if rings { doorbell.ring() }
        return try result.get()
    }

    func note(_ facts: [StoreFact]) -> StoreTicket {
        let (ticket, rings) = state.withLock { state in
            (put(facts, in: &state), rouse(&state))
        }
        if rings { doorbell.ring() }
        return ticket
    }

    func tellAll() {
        let rings = state.withLock { state in
            _ = put(.end, StoreMailbox.factCost, in: &state)
            return rouse(&state)
        }
        if rings { doorbell.ring() }
    }

    /// About what one takes in memory.
    private static let factCost = 64

    private func put(_ facts: [StoreFact], in state: inout sending State) -> StoreTicket {
        put(.facts(facts), facts.count * StoreMailbox.factCost, in: &state)
    }

    private func put(_ content: Letter.Content, _ cost: Int, in state: inout sending State) -> StoreTicket {
        state.lastTicket += 1
        let ticket = StoreTicket(number: state.lastTicket)
        state.letters.append(Letter(ticket: ticket, content: content, cost: cost))
        state.cost += cost
        return ticket
    }

    private func rouse(_ state: inout sending State) -> Bool {
        defer { state.isAsleep = false }
        return state.isAsleep
    }

    func takeNews() -> StoreNews {
        state.withLock { state in
            state.news.isCongested = state.cost > congestion
            defer { state.news.wasTaken() }
            return state.news
        }
    }

    var isCongested: Bool { state.withLock { $0.cost > congestion } }

    var busySince: Instant? { state.withLock { $0.busySince } }

    var meter: StoreMeter { state.withLock { $0.meter } }

    func close() {
        state.withLock { $0.isClosing = true }
        doorbell.ring()
    }

    // MARK: The side of the writer

    /// What is written together: the first letters, up to about so many bytes.
    func take(upTo limit: Int, at now: Instant) -> [Letter] {
        state.withLock { state in
            var cost = 0
            var count = 0
            for letter in state.letters where cost < limit {
                cost += letter.cost
                count += 1
            }
            guard count > 0 else { return [] }
            state.busySince = now
            guard count < state.letters.count else {
                defer { state.letters = [] }
                return state.letters
            }
            defer { state.letters.removeFirst(count) }
            return Array(state.letters[..<count])
        }
    }

    /// The writer is done with these, whatever became of them; if they were written, `now`.
    func finish(_ letters: [Letter], writtenAt now: Instant? = nil) {
        let isRelieved = state.withLock { state in
            if let now, let start = state.busySince { state.meter.wrote(letters, from: start, to: now) }
            let wasCongested = state.cost > congestion
            state.cost -= letters.reduce(0) { $0 + $1.cost }
            return wasCongested && state.cost <= congestion
        }
        // Whoever paused is told that it may go on, though nothing else is new.
        if isRelieved { wake() }
    }

    /// The writer does something else than to write letters.
    func isBusy(at now: Instant) { state.withLock { $0.busySince = now } }

    /// Tells the loop.
    func publish(_ change: (inout StoreNews) -> Void) {
        state.withLock { change(&$0.news) }
        wake()
    }

    var isClosing: Bool { state.withLock { $0.isClosing } }

    var isEmpty: Bool { state.withLock { $0.letters.isEmpty } }

    /// Waits until there is something, or for so long.
    func wait(for limit: Duration?) {
        let isIdle = state.withLock { state in
            state.isAsleep = state.letters.isEmpty && !state.isClosing
            state.busySince = nil
            return state.isAsleep
        }
        if isIdle { doorbell.wait(for: limit) }
        state.withLock { $0.isAsleep = false }
    }
}

extension StoreNews {
    /// Leaves what is so still.
    fileprivate mutating func wasTaken() {
        (refused, histories, trims, mended) = ([], [:], [], [])
        isToBeTold = false
    }
}
