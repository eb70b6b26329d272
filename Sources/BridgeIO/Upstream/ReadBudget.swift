/// How much of one upstream is handled before everyone else gets a turn.
///
/// A few bytes on the wire can stand for many messages, or for a very large one: what counts is what they become.
struct ReadBudget {
    private static let events = 1000
    private static let payloadBytes = 1 << 20

    private var eventsLeft = events
    private var payloadBytesLeft = payloadBytes

    var isSpent: Bool { eventsLeft <= 0 || payloadBytesLeft <= 0 }

    mutating func spend(payloadBytes: Int) {
        eventsLeft -= 1
        payloadBytesLeft -= payloadBytes
    }
}
