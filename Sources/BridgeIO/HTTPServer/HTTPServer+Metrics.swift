package import BridgeCore

extension HTTPServer {
    /// Writes the lines of a family that is about requests and clients.
    package func write(_ metric: BridgeMetric, to text: inout MetricsText) {
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
        case .memoryUsed:
            text.line(metric.family)
            text.label("holder", "bodies")
            text.value(bodies.used)
        case .build, .streams, .streamsEnded, .memoryLimit, .turns, .storageUp,
            .storageGroupTime,
            .storageGroupSize, .storageFailures, .storageStalled, .processorTime, .residentMemory,
            .virtualMemory, .openDescriptors, .mostDescriptors, .startTime:
            break
        }
    }
}
