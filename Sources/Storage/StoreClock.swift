package import BridgeCore
internal import Glibc

/// The clocks of the store, which tests replace.
package struct StoreClock: Sendable {
    /// For what waits and measures.
    package var monotonic: @Sendable () -> Instant
    /// For the age of records, and never for waiting.
    package var wall: @Sendable () -> WallTime

    package init(
        monotonic: @escaping @Sendable () -> Instant = {
            Instant(nanoseconds: StoreClock.read(CLOCK_MONOTONIC))
        },
        // The time of day: records say when they came by it, and are kept for so long by it.
        wall: @escaping @Sendable () -> WallTime = {
            // The same reason holds here: it is what records carry.
            WallTime(millisecondsSince1970: StoreClock.read(CLOCK_REALTIME) / 1_000_000)
        }
    ) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// Nanoseconds.
    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
