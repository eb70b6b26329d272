/// How the time that a bridge has to stop is divided, counted from its beginning.
package struct ShutdownTimes: Equatable, Sendable {
    /// Until then upstreams may take what is owed to them, and answer the close.
    package let upstreams: Duration
    /// Until then streams and answers are waited for.
    package let streams: Duration
    /// Until then the store is waited for, if there is one.
    package let store: Duration

    /// `limit` is `http.shutdownTimeout`, within which the process is gone.
    package init(limit: Duration, hasStore: Bool) {
        // Letting go of thousands of clients and of the memory takes a while, too.
        store = limit - min(ShutdownTimes.ending, limit / 16)
        streams = hasStore ? store - min(ShutdownTimes.storing, limit * 3 / 16) : store
        upstreams = streams - min(ShutdownTimes.streaming, limit * 3 / 16)
    }

    private static let ending = Duration.milliseconds(500)
    /// What the store has at least to write what waits and to close, of a timeout that allows for it.
    private static let storing = Duration.seconds(1)
    /// What streams and those who wait for an answer have at least, whatever an upstream does: they are told, and end
    /// cleanly.
    private static let streaming = Duration.seconds(1)
}
