/// Facts on their way to the store, in order.
///
/// Nobody waits for the ends of messages, so these may wait for company: what is offered next takes them along, and the
/// store has one transaction where it would have two. Whatever else there is goes at once.
package struct PendingFacts: Sendable {
    private var facts: [StoreFact] = []
    /// There is something but ends of messages.
    private var areUrgent = false
    /// When the first of them came.
    private var beginning = Instant(nanoseconds: 0)

    /// So long an end waits at most: what was sent in that time is sent again if the process is killed.
    private static let patience = Duration.milliseconds(5)
    /// So many wait at most.
    private static let limit = 1024

    package init() {}

    package var isEmpty: Bool { facts.isEmpty }

    /// What is there may stay until something else comes, or it is `due`.
    package func mayWait(at now: Instant) -> Bool {
        isEmpty || !areUrgent && facts.count < PendingFacts.limit && now < due
    }

    /// There is nothing but ends of messages: what comes behind them may as well come before.
    package var areEnds: Bool { !areUrgent }

    /// When they are to go, if nothing else comes.
    package var due: Instant { beginning + PendingFacts.patience }

    package mutating func append(_ fact: StoreFact) {
        facts.append(fact)
        areUrgent = true
    }

    /// A message came to its end; those that follow one another and came to the same end are one fact.
    package mutating func append(
        endOf number: UInt64,
        of connection: StoredConnectionID,
        as state: MessageState,
        at now: Instant
    ) {
        if facts.isEmpty { beginning = now }
        if let joined = facts.last?.joined(by: number, of: connection, as: state) {
            facts[facts.count - 1] = joined
        } else {
            facts.append(.ended(number..<number + 1, of: connection, as: state))
        }
    }

    package mutating func take() -> [StoreFact] {
        defer { self = PendingFacts() }
        return facts
    }
}
