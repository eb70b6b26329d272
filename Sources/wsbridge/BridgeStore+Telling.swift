internal import BridgeCore
internal import BridgeIO
internal import Storage

/// What the store says of itself.
extension BridgeStore {
    /// Nothing could be written for a while: the disk does not answer, or has no room.
    var isStalled: Bool { standstill >= DiskWatch.patience }

    /// Why nothing can be written at the moment, as a sentence; nil: it can.
    var trouble: String? { failure?.text ?? (disk.isSilent ? "the disk of \(path) does not answer" : nil) }

    /// How often it became unwritable.
    var troubles: Int { failures + disk.silences }

    /// For how long nothing could be written, or the writer has been at the same piece of work.
    var standstill: Duration {
        let beginning = [failingSince, store.busySince].compactMap(\.self).min()
        return beginning.map { loop.now - $0 } ?? .zero
    }

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
