internal import BridgeCore
internal import Storage

/// What the store says of itself.
extension BridgeStore {
    /// Writes the value of `storage` in the status.
    func writeStatus(to json: inout JSONWriter) {
        json.object { json in
            json.member("path", path)
            json.member("error", trouble)
            json.member("damage", damage?.text)
        }
    }

    /// Writes the lines of a family that is about the store.
    func write(_ metric: BridgeMetric, to text: inout MetricsText) {
        switch metric {
        case .storageUp:
            text.line(metric.family)
            text.value(trouble == nil)
        case .storageGroupTime: text.histogram(metric.family, store.meter.times)
        case .storageGroupSize: text.histogram(metric.family, store.meter.sizes)
        case .storageFailures:
            text.line(metric.family)
            text.value(troubles)
        case .storageStalled:
            text.line(metric.family)
            text.value(seconds: standstill)
        case .build, .requests, .requestsInFlight, .refusals, .clients, .clientsRefused, .streams,
            .streamsEnded,
            .memoryLimit, .memoryUsed, .turns, .processorTime, .residentMemory, .virtualMemory,
            .openDescriptors, .mostDescriptors, .startTime:
            break
        }
    }
}
