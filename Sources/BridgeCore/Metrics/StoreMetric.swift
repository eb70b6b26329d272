/// The families of the store; they are there only where there is one.
package enum StoreMetric: CaseIterable, Sendable {
    case up, groupTime, groupSize, failures, stalled

    package var family: MetricFamily {
        switch self {
        case .up:
            MetricFamily("wsbridge_storage_up", .gauge, "1 while the store can be written, else 0.")
        case .groupTime:
            MetricFamily("wsbridge_storage_group_seconds", .histogram, "Time to write and sync a group.")
        case .groupSize:
            MetricFamily("wsbridge_storage_group_entries", .histogram, "Changes that were written together.")
        case .failures:
            MetricFamily(
                "wsbridge_storage_failures_total",
                .counter,
                "How often the store became unwritable."
            )
        case .stalled:
            MetricFamily(
                "wsbridge_storage_stalled_seconds",
                .gauge,
                "For how long the store has made no progress although there is something to write."
            )
        }
    }
}
