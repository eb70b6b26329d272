/// All that a client asks of an event stream.
package struct Subscription: Equatable, Sendable {
    /// What becomes of a subscriber that reads too slowly for what is kept.
    package enum Slowness: String, CaseIterable, Sendable {
        /// It is told how much it lost, and goes on.
        case gap
        /// Its connection is closed.
        case disconnect
    }

    package var shape: StreamShape
    package var start: StartPosition
    /// The stream ends after so many records; nil: never.
    package var limit: Int?
    /// The stream ends when no record came for so long; nil: never.
    package var idle: Duration?
    package var slowness: Slowness
    /// The connections of a merged stream, which change as connections come and go; nil: they stay.
    package var scope: ConnectionScope?
    /// Who reads; the stream ends when they may not any more.
    package var caller = Caller.anonymous

    package init(
        shape: StreamShape,
        start: StartPosition = .now,
        limit: Int? = nil,
        idle: Duration? = nil,
        slowness: Slowness = .gap
    ) {
        self.shape = shape
        self.start = start
        self.limit = limit
        self.idle = idle
        self.slowness = slowness
    }
}
