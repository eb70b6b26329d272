package import BridgeCore

extension ManagedConnection {
    /// Writes the lines of a family that is about the connection itself.
    package func write(_ metric: UpstreamMetric, to text: inout MetricsText) {
        switch metric {
        case .state:
            for standing in ConnectionMachine.Standing.allCases {
                line(metric, "state", standing.rawValue, &text)
                text.value(standing == machine.outlook.standing)
            }
        case .ready: text.line(metric.family, of: name, isReady ? 1 : 0)
        case .opens: text.line(metric.family, of: name, tally.opens)
        case .closes:
            for row in tally.closesByCode.rows {
                line(metric, "code", row.code, &text)
                text.value(row.count)
            }
        case .failures:
            for phase in DialPhase.allCases {
                line(metric, "phase", phase.rawValue, &text)
                text.value(tally.failuresByPhase[phase] ?? 0)
            }
        case .retries: text.line(metric.family, of: name, tally.retries)
        case .heartbeatsSent: text.line(metric.family, of: name, machine.heartbeatsSent)
        case .heartbeatsMissed: text.line(metric.family, of: name, tally.heartbeatsMissed)
        case .roundTrip: text.histogram(metric.family, meter.roundTrips) { $0.label("connection", name) }
        case .messages: writeDirections(metric, tally.received, tally.sent, &text)
        case .messageBytes: writeDirections(metric, tally.receivedBytes, tally.sentBytes, &text)
        case .outboxMessages: text.line(metric.family, of: name, load.messages)
        case .outboxBytes: text.line(metric.family, of: name, load.bytes)
        case .outboxLimit: text.line(metric.family, of: name, outbox.settings.maxMessages)
        case .outboxByteLimit: text.line(metric.family, of: name, outbox.settings.maxBytes)
        case .outboxAge:
            text.line(metric.family)
            text.label("connection", name)
            text.value(seconds: load.oldestAge ?? .zero)
        case .outboxWait: text.histogram(metric.family, meter.waits) { $0.label("connection", name) }
        case .expired: text.line(metric.family, of: name, tally.expired)
        case .dropped: text.line(metric.family, of: name, tally.dropped)
        }
    }

    private var load: Outbox.Load { outbox.load(now: surroundings.loop.now) }

    private func line(
        _ metric: UpstreamMetric,
        _ label: StaticString,
        _ value: String,
        _ text: inout MetricsText
    ) {
        text.line(metric.family)
        text.label("connection", name)
        text.label(label, value)
    }

    private func writeDirections(
        _ metric: UpstreamMetric,
        _ received: Int,
        _ sent: Int,
        _ text: inout MetricsText
    ) {
        line(metric, "direction", "in", &text)
        text.value(received)
        line(metric, "direction", "out", &text)
        text.value(sent)
    }
}
