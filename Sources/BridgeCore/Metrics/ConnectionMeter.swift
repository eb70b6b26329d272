/// How long things took on a connection.
package struct ConnectionMeter: Sendable {
    /// From a heartbeat to its answer.
    package private(set) var roundTrips = Histogram(.roundTrip)
    /// From a message accepted to it being written.
    package private(set) var waits = Histogram(.wait)
    /// When the last round trip was over that was taken in.
    private var lastRoundTrip: Instant?

    package init() {}

    /// Looks whether there was an answer since the last look.
    package mutating func look(at pulse: Pulse?) {
        guard let pulse, let end = pulse.roundTripAt, end != lastRoundTrip, let time = pulse.roundTrip else {
            return
        }
        lastRoundTrip = end
        roundTrips.observe(time.nanoseconds)
    }

    /// The kernel took a message that was accepted at `start`.
    package mutating func written(since start: Instant, now: Instant) {
        waits.observe(from: start, to: now)
    }
}
