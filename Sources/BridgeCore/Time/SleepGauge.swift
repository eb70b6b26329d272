/// Tells from two clocks that the machine slept: one stands still meanwhile, the other goes on.
package struct SleepGauge: Sendable {
    /// The clocks are read one after the other, so they never agree quite.
    private static let tolerance = Duration.milliseconds(50)

    /// How far the one was ahead when last looked at.
    private var lead: Duration

    /// Takes the time since the machine booted, with and without the time that it slept.
    package init(sinceBoot: Duration, awake: Duration) {
        lead = sinceBoot - awake
    }

    /// Whether the machine slept since this was last asked.
    package mutating func hasSlept(sinceBoot: Duration, awake: Duration) -> Bool {
        let now = sinceBoot - awake
        defer { lead = now }
        return now - lead > SleepGauge.tolerance
    }
}
