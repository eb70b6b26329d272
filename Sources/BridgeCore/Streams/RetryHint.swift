/// What clients are told to wait before they come back (`retry:`), spread so that they do not come at once.
package struct RetryHint: Equatable, Sendable {
    /// The middle of the range.
    package var delay: Duration

    package init(_ delay: Duration = .seconds(2)) {
        self.delay = delay
    }

    /// Milliseconds between 75 and 125 % of `delay`, drawn anew for each client.
    package func milliseconds(random: inout some RandomNumberGenerator) -> Int64 {
        let middle = max(0, min(delay.milliseconds, .max / 2))
        let spread = middle / 4
        return .random(in: (middle - spread)...(middle + spread), using: &random)
    }
}
