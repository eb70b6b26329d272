/// The families of the program and its loop.
package enum ProgramMetric: CaseIterable, Sendable {
    case build, turns

    package var family: MetricFamily {
        switch self {
        case .build: MetricFamily("wsbridge_build_info", .gauge, "1, with the version of the program.")
        case .turns:
            MetricFamily(
                "wsbridge_loop_turn_seconds",
                .histogram,
                "How long the event loop was busy at a time, so that everyone else had to wait."
            )
        }
    }
}
