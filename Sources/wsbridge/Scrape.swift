internal import BridgeCore
internal import BridgeIO
internal import WebSocketProtocol

/// What Prometheus gets when it asks, made piece by piece: with ten thousand connections it is tens of megabytes, which
/// neither have to be held nor keep the loop from its work.
///
/// Connections that come meanwhile are not shown, and those that go are not shown any more.
final class Scrape: BodySource {
    private unowned let bridge: Bridge
    /// Those that the caller covers.
    private let connections: [BridgedConnection]
    private let process: ProcessFigures
    private var lags = StreamLags()
    private var text = MetricsText()
    private var rest = Scrape.families[...]
    /// The next connection of the first family of the rest; nil: the family has not begun.
    private var place: Int?

    private enum Family {
        case bridge(BridgeMetric)
        case connection(ConnectionMetric)
    }

    private static let families =
        ConnectionMetric.allCases.map(Family.connection) + BridgeMetric.allCases.map(Family.bridge)

    /// About what is made at a time: a fraction of a millisecond of work.
    private static let pieceBytes = 16 * 1024

    init(_ bridge: Bridge, of connections: [BridgedConnection]) {
        self.bridge = bridge
        self.connections = connections
        process = .read(at: bridge.loop.wallTime)
    }

    func next() -> [UInt8]? {
        text.reserve(Scrape.pieceBytes + Scrape.pieceBytes / 4)
        while text.bytes.count < Scrape.pieceBytes, let family = rest.first {
            switch family {
            case .bridge(let metric): write(metric)
            case .connection(let metric): write(metric)
            }
        }
        return text.bytes.isEmpty ? nil : text.take()
    }

    private func write(_ metric: BridgeMetric) {
        rest.removeFirst()
        guard bridge.store != nil || !metric.isOfStore else { return }
        text.begin(metric.family)
        switch metric {
        case .build:
            text.line(metric.family)
            text.label("version", Version.text)
            text.value(1)
        case .requests, .requestsInFlight, .refusals, .clients, .clientsRefused:
            bridge.server?.write(metric, to: &text)
        case .memoryUsed:
            bridge.hub.write(metric, to: &text)
            bridge.server?.write(metric, to: &text)
        case .streams, .streamsEnded, .memoryLimit: bridge.hub.write(metric, to: &text)
        case .turns: text.histogram(metric.family, bridge.loop.turns)
        case .storageUp, .storageGroupTime, .storageGroupSize, .storageFailures, .storageStalled:
            bridge.store?.write(metric, to: &text)
        case .processorTime, .residentMemory, .virtualMemory, .openDescriptors, .mostDescriptors, .startTime:
            process.write(metric, to: &text)
        }
    }

    /// Goes on with a family, up to the end of a piece.
    private func write(_ metric: ConnectionMetric) {
        if place == nil { text.begin(metric.family) }
        var next = place ?? 0
        while next < connections.count, text.bytes.count < Scrape.pieceBytes {
            write(metric, of: connections[next])
            next += 1
        }
        place = next
        guard next == connections.count else { return }
        place = nil
        rest.removeFirst()
    }

    private func write(_ metric: ConnectionMetric, of connection: BridgedConnection) {
        let name = connection.upstream.name
        // Its place in the log may be another's by now.
        guard !connection.isRemoved else { return }
        switch metric {
        case .historyMessages, .historyBytes, .subscribers, .lag, .gaps:
            bridge.hub.write(metric, of: connection.index, name, &lags, to: &text)
        case .state, .ready, .opens, .closes, .failures, .retries, .heartbeatsSent, .heartbeatsMissed,
            .roundTrip,
            .messages, .messageBytes, .outboxMessages, .outboxBytes, .outboxLimit, .outboxAge, .outboxWait,
            .expired, .dropped:
            connection.upstream.write(metric, to: &text)
        }
    }
}

extension Bridge {
    func metrics(_ request: AdmittedRequest) -> HTTPAnswer {
        let covered = sortedConnections.filter { request.caller.covers(connection: $0.upstream.name) }
        let fields = HTTPResponse.protection + [HTTPField("Content-Type", MetricsText.mediaType)]
        return .pieces(fields: fields + request.fields, source: Scrape(self, of: covered))
    }
}
