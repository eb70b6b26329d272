/// How much of a connection's past the event log keeps; the oldest records go first.
package struct HistoryLimits: Equatable, Sendable {
    /// Records of any kind, lifecycle events included.
    package var maxMessages: Int
    /// Bytes of payload.
    package var maxBytes: Int
    /// By the wall clock; nil: no limit.
    package var maxAge: Duration?

    package init(maxMessages: Int = 10_000, maxBytes: Int = 64 << 20, maxAge: Duration? = nil) {
        self.maxMessages = maxMessages
        self.maxBytes = maxBytes
        self.maxAge = maxAge
    }
}
