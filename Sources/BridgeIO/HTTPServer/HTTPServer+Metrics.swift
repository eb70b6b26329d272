package import BridgeCore

extension HTTPServer {
    /// Writes the lines of a family that is about requests and clients.
    package func write(_ metric: HTTPMetric, to text: inout MetricsText) {
        switch metric {
        case .requests: tally.writeRequests(to: &text)
        case .requestsInFlight:
            text.line(metric.family)
            text.value(tally.inFlight)
        case .refusals: tally.writeRefusals(to: &text)
        case .clients:
            text.line(metric.family)
            text.value(room.count)
        case .clientsRefused:
            text.line(metric.family)
            text.value(room.refused)
        }
    }

    /// Writes what the bodies of requests in arrival hold, as a line of `memoryUsed`.
    package func writeMemory(to text: inout MetricsText) {
        text.line(StreamMetric.memoryUsed.family)
        text.label("holder", "bodies")
        text.value(bodies.used)
    }
}
