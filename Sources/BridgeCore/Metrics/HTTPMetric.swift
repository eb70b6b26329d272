/// The families of requests and clients.
package enum HTTPMetric: CaseIterable, Sendable {
    case requests, requestsInFlight, refusals
    case clients, clientsRefused

    package var family: MetricFamily {
        switch self {
        case .requests:
            MetricFamily(
                "wsbridge_http_requests_total",
                .counter,
                "Requests that were answered, streams included."
            )
        case .requestsInFlight:
            MetricFamily(
                "wsbridge_http_requests_in_flight",
                .gauge,
                "Requests that have begun and are not wholly answered, streams aside."
            )
        case .refusals:
            MetricFamily(
                "wsbridge_http_refusals_total",
                .counter,
                "Requests that were answered with a problem."
            )
        case .clients: MetricFamily("wsbridge_http_connections", .gauge, "Connections of clients.")
        case .clientsRefused:
            MetricFamily(
                "wsbridge_http_connections_refused_total",
                .counter,
                "Connections of clients for which there was no room."
            )
        }
    }
}
