/// The families of all streams, and of the memory that they share with histories and outboxes.
package enum StreamMetric: CaseIterable, Sendable {
    case streams, streamsEnded
    case memoryLimit, memoryUsed

    package var family: MetricFamily {
        switch self {
        case .streams: MetricFamily("wsbridge_streams", .gauge, "Open event streams.")
        case .streamsEnded:
            MetricFamily(
                "wsbridge_streams_ended_total",
                .counter,
                "Event streams that ended, by what ended them."
            )
        case .memoryLimit:
            MetricFamily(
                "wsbridge_memory_limit_bytes",
                .gauge,
                "What histories, outboxes and streams may hold."
            )
        case .memoryUsed:
            MetricFamily(
                "wsbridge_memory_used_bytes",
                .gauge,
                "What histories, outboxes, streams and others hold."
            )
        }
    }
}
