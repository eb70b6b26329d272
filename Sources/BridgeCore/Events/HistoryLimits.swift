/// What of a connection's past the event log keeps; the oldest records go first.
package struct HistoryLimits: Equatable, Sendable {
    /// Records of any kind, lifecycle events included.
    package var maxMessages: Int
    /// Bytes of payload.
    package var maxBytes: Int
    /// By the wall clock; nil: no limit.
    package var maxAge: Duration?
    /// Whether messages that were sent are recorded as well.
    package var includeSent: Bool

    package init(
        maxMessages: Int = 10_000,
        maxBytes: Int = 64 << 20,
        maxAge: Duration? = nil,
        includeSent: Bool = false
    ) {
        self.maxMessages = maxMessages
        self.maxBytes = maxBytes
        self.maxAge = maxAge
        self.includeSent = includeSent
    }
}
