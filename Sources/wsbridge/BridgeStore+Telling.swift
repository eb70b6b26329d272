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
    func write(_ metric: StoreMetric, to text: inout MetricsText) {
        switch metric {
        case .up:
            text.line(metric.family)
            text.value(trouble == nil)
        case .groupTime: text.histogram(metric.family, store.meter.times)
        case .groupSize: text.histogram(metric.family, store.meter.sizes)
        case .failures:
            text.line(metric.family)
            text.value(troubles)
        case .stalled:
            text.line(metric.family)
            text.value(seconds: standstill)
        }
    }
}
