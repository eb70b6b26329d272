/// The delays between one dial and the next.
///
/// With the defaults, before jitter: 0.5 s, 1 s, 2 s, 4 s, 8 s, 16 s, 32 s, then 60 s for ever.
package struct Backoff: Equatable, Sendable {
    private let settings: ReconnectSettings

    /// The longest time that a peer may ask for.
    static let longestLowerBound = Duration.seconds(86_400)

    package init(_ settings: ReconnectSettings) {
        self.settings = settings
    }

    /// The delay before retry number `attempt`, counted from 1.
    ///
    /// `lowerBound` is what the peer asked for (`Retry-After`); neither cap nor jitter shortens it, but more than
    /// a day counts as a day. Any settings will do: nothing overflows, and a factor below 1 counts as 1.
    package func delay(
        attempt: Int,
        atLeast lowerBound: Duration? = nil,
        random: inout some RandomNumberGenerator
    ) -> Duration {
        let jitter = min(max(settings.jitter, 0), 1)
        let scale = jitter > 0 ? Double.random(in: (1 - jitter)...1, using: &random) : 1
        let jittered = Duration(clampingNanoseconds: cappedNanoseconds(attempt: attempt) * scale)
        return max(jittered, min(lowerBound ?? .zero, Backoff.longestLowerBound))
    }

    /// The cap holds before the jitter, so that bridges at the cap stay apart too.
    private func cappedNanoseconds(attempt: Int) -> Double {
        let initial = Double(max(settings.initialDelay, .zero).nanoseconds)
        let cap = Double(max(settings.maxDelay, .zero).nanoseconds)
        guard initial > 0 else { return 0 }
        let factor = settings.factor > 1 ? settings.factor : 1
        return min(initial * power(factor, max(attempt, 1) - 1), cap)
    }

    /// `base` to the power of `exponent` in a number of steps that grows with its logarithm; may be infinite.
    private func power(_ base: Double, _ exponent: Int) -> Double {
        var result = 1.0
        var square = base
        var rest = exponent
        while rest > 0 {
            if rest & 1 == 1 { result *= square }
            square *= square
            rest >>= 1
        }
        return result
    }
}

extension Duration {
    /// What fits of a number of nanoseconds: none for less than zero, 292 years for more than that.
    fileprivate init(clampingNanoseconds value: Double) {
        let fits = value < Double(Int64.max)
        self = value > 0 ? .nanoseconds(fits ? Int64(value) : .max) : .zero
    }
}
