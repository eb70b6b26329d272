/// A point on the monotonic clock: nanoseconds since some moment that only this process knows.
///
/// Deciders take it as an argument and never read a clock. It says nothing about the time of day: for that
/// see `WallTime`.
package struct Instant: Comparable, Hashable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The later instant; far-away ends saturate instead of trapping.
    package static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return Instant(nanoseconds: overflow ? (duration > .zero ? .max : .min) : sum)
    }

    package static func += (instant: inout Instant, duration: Duration) {
        instant = instant + duration
    }

    /// The time from `earlier` to `later`, negative if they are the other way round.
    package static func - (later: Instant, earlier: Instant) -> Duration {
        .nanoseconds(later.nanoseconds.subtractingReportingOverflow(earlier.nanoseconds).partialValue)
    }
}

extension Duration {
    /// Whole nanoseconds; durations beyond 292 years saturate.
    package var nanoseconds: Int64 {
        Int64(clamping: attoseconds / 1_000_000_000)
    }

    /// Whole milliseconds, rounded down.
    package var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
