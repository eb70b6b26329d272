package import BridgeCore

/// How far the slowest subscriber of each feed lags, looked up once.
package struct StreamLags {
    /// The feeds are kept, so that no other one takes the place of one in memory.
    fileprivate var largest: [ObjectIdentifier: (feed: Feed, lag: Int)] = [:]

    package init() {}
}

extension EventHub {
    /// Writes the lines of a family that is about the records of a connection, and who reads them.
    package func write(
        _ metric: RecordMetric,
        of connection: ConnectionIndex,
        _ name: String,
        _ lags: inout StreamLags,
        to text: inout MetricsText
    ) {
        switch metric {
        case .historyMessages: text.line(metric.family, of: name, historyStatus(of: connection).messages)
        case .historyBytes: text.line(metric.family, of: name, historyStatus(of: connection).bytes)
        case .subscribers: text.line(metric.family, of: name, subscriberCount(of: connection))
        case .lag: text.line(metric.family, of: name, largestLag(of: connection, &lags))
        case .gaps:
            let gaps = gapTally(of: connection)
            for reason in GapTally.Reason.allCases {
                text.line(metric.family)
                text.label("connection", name)
                text.label("reason", reason.rawValue)
                text.value(gaps[reason])
            }
        }
    }

    /// Writes the lines of a family that is about all streams.
    package func write(_ metric: StreamMetric, to text: inout MetricsText) {
        switch metric {
        case .streams:
            text.line(metric.family)
            text.value(subscriberCount)
        case .streamsEnded:
            for reason in StreamEnd.allCases {
                text.line(metric.family)
                text.label("reason", reason.rawValue)
                text.value(ended[reason] ?? 0)
            }
        case .memoryLimit:
            text.line(metric.family)
            text.value(memory.bound)
        case .memoryUsed: writeMemory(to: &text)
        }
    }

    private func writeMemory(to text: inout MetricsText) {
        let encoded = feeds.all.reduce(0) { $0 + $1.heldBytes }
        let holders = [
            ("histories", log.memoryBytes), ("outboxes", memory.outboxes), ("streams", encoded + pages.bytes),
            ("storage", memory.staged),
        ]
        for (holder, bytes) in holders {
            text.line(StreamMetric.memoryUsed.family)
            text.label("holder", holder)
            text.value(bytes)
        }
    }

    private func largestLag(of connection: ConnectionIndex, _ lags: inout StreamLags) -> Int {
        feeds.takers(of: connection).reduce(0) { largest, feed in
            let id = ObjectIdentifier(feed)
            let lag = lags.largest[id]?.lag ?? feed.subscribers.reduce(0) { max($0, self.lag(of: $1)) }
            lags.largest[id] = (feed, lag)
            return max(largest, lag)
        }
    }
}
