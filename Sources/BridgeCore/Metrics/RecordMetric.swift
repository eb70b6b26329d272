/// The families that have a series, or some, for each connection, of its records and who reads them.
package enum RecordMetric: CaseIterable, Sendable {
    case historyMessages, historyBytes
    case subscribers, lag, gaps

    package var family: MetricFamily {
        switch self {
        case .historyMessages:
            MetricFamily(
                "wsbridge_history_messages",
                .gauge,
                "Records kept, what happened to the connection included."
            )
        case .historyBytes:
            MetricFamily("wsbridge_history_bytes", .gauge, "Bytes of the records kept.")
        case .subscribers:
            MetricFamily("wsbridge_subscribers", .gauge, "Open event streams that have this connection.")
        case .lag:
            MetricFamily(
                "wsbridge_subscriber_lag_max_records",
                .gauge,
                "Records that the slowest of them has not been sent yet."
            )
        case .gaps:
            MetricFamily(
                "wsbridge_gaps_total",
                .counter,
                "Gaps that streams were told of, by what led to them."
            )
        }
    }
}
