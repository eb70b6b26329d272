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
    private var rest = Metric.all[...]
    /// The next connection of the first family of the rest; nil: the family has not begun.
    private var place: Int?

    /// About what is made at a time: a fraction of a millisecond of work.
    private static let pieceBytes = 16 * 1024

    init(_ bridge: Bridge, of connections: [BridgedConnection]) {
        self.bridge = bridge
        self.connections = connections
        process = .read(at: bridge.loop.wallTime)
    }

    func next() -> [UInt8]? {
        text.reserve(Scrape.pieceBytes + Scrape.pieceBytes / 4)
        while text.bytes.count < Scrape.pieceBytes, let metric = rest.first {
            write(metric)
        }
        return text.bytes.isEmpty ? nil : text.take()
    }

    /// Writes a family, or a part of one that has series for each connection.
    private func write(_ metric: Metric) {
        switch metric {
        case .upstream(let one):
            writeConnections(metric.family) { $0.upstream.write(one, to: &text) }
        case .records(let one):
            writeConnections(metric.family) { connection in
                let name = connection.upstream.name
                bridge.hub.write(one, of: connection.index, name, &lags, to: &text)
            }
        case .store where bridge.store == nil: rest.removeFirst()
        case .program, .http, .streams, .store, .process:
            rest.removeFirst()
            text.begin(metric.family)
            writeWhole(metric)
        }
    }

    private func writeWhole(_ metric: Metric) {
        switch metric {
        case .program(let metric): write(metric)
        case .http(let metric): bridge.server?.write(metric, to: &text)
        case .streams(let metric):
            bridge.hub.write(metric, to: &text)
            // Bodies in arrival are the server's.
            if metric == .memoryUsed { bridge.server?.writeMemory(to: &text) }
        case .store(let metric): bridge.store?.write(metric, to: &text)
        case .process(let metric): process.write(metric, to: &text)
        case .upstream, .records: break
        }
    }

    private func write(_ metric: ProgramMetric) {
        switch metric {
        case .build:
            text.line(metric.family)
            text.label("version", Version.text)
            text.value(1)
        case .turns: text.histogram(metric.family, bridge.loop.turns)
        }
    }

    /// Goes on with a family, up to the end of a piece.
    private func writeConnections(_ family: MetricFamily, _ write: (BridgedConnection) -> Void) {
        if place == nil { text.begin(family) }
        var next = place ?? 0
        while next < connections.count, text.bytes.count < Scrape.pieceBytes {
            // The place in the log of one that was removed may be another's by now.
            if !connections[next].isRemoved { write(connections[next]) }
            next += 1
        }
        place = next
        guard next == connections.count else { return }
        place = nil
        rest.removeFirst()
    }
}

extension Bridge {
    func metrics(_ request: AdmittedRequest) -> HTTPAnswer {
        let covered = sortedConnections.filter { request.caller.covers(connection: $0.upstream.name) }
        let fields = HTTPResponse.protection + [HTTPField("Content-Type", MetricsText.mediaType)]
        return .pieces(fields: fields + request.fields, source: Scrape(self, of: covered))
    }
}
