import BridgeCore
import BridgeIO
import WebSocketProtocol

/// An HTTP server with an event hub behind it, on a loop that a test runs.
@MainActor final class TestService: HTTPHandler {
    let loop = Loop()
    let hub: EventHub
    let connection: ConnectionIndex
    let other: ConnectionIndex
    private(set) var server: HTTPServer?
    /// Bodies of requests to other paths than `/events`.
    private(set) var bodies: [[UInt8]] = []
    /// What such requests are answered with.
    var answerBody: [UInt8] = []
    /// They are answered with what they sent instead.
    var answersWithBody = false
    /// What makes the bodies of their answers, if that is not nil.
    var source: (any BodySource)?
    private let gate: RequestGate
    private let store: StoreDouble?
    private var turnEnd: BeforeWaiting?
    private var nextTurn: LoopTimer?

    /// `way` is that of streams; with a `store` records are stored there before they are shown.
    init(
        _ settings: HTTPSettings = HTTPSettings(),
        history: HistoryLimits = HistoryLimits(),
        way: StreamWay = .detached,
        store: StoreDouble? = nil
    ) throws {
        self.store = store
        var settings = settings
        if settings.listen == HTTPSettings().listen { settings.listen = .tcp(host: "127.0.0.1", port: 0) }
        hub = EventHub(loop: loop, settings: settings)
        if let store { hub.keep(in: store, from: store.recovery) }
        connection = try unwrap(hub.register("default", limits: history, as: store?.connection("default")))
        other = try unwrap(hub.register("other", limits: history, as: store?.connection("other")))
        gate = RequestGate(settings, ownNames: [])
        let socket = try ListenSocket(settings.listen)
        server = try HTTPServer(
            loop: loop,
            socket: socket,
            settings: settings,
            handler: self,
            streamMode: way.mode
        )
        turnEnd = BeforeWaiting(loop: loop) { [unowned self] in endTurn() }
    }

    func endTurn() {
        guard let server else { return }
        store?.settle()
        for _ in 0..<16 {
            hub.deliver()
            guard server.runIfNeeded() || hub.hasNews else { break }
        }
        hub.storeStaged()
        server.prepareToWait()
        let isOwed = hub.hasNews || store?.hasWork == true
        nextTurn = isOwed ? loop.startTimer(after: .zero) {} : nil
    }

    /// Publishes a text message.
    func publish(_ text: String, of other: ConnectionIndex? = nil, direction: Record.Direction = .received) {
        hub.append(.message(Message(.text, Array(text.utf8))), of: other ?? connection, direction: direction)
    }

    var rules = 0
    /// Heads that were decided about.
    private(set) var admitted = 0

    func admit(_ head: RequestHead) -> Admission {
        admitted += 1
        return gate.admit(head, connections: ["default", "other"])
    }

    func serve(_ request: AdmittedRequest, body: [UInt8], from head: RequestHead) -> HTTPAnswer {
        switch request.route {
        case .events(_, let query):
            return stream(of: ConnectionSelection(connection), query, head)
        case .mergedEvents(_, let scope, let query):
            return stream(of: hub.selection(of: scope), in: scope, query, head)
        case .poll(_, let query):
            return poll(query)
        default:
            bodies.append(body)
            if let source { return .pieces(fields: [], source: source) }
            var response = HTTPResponse(status: 200)
            response.body = answersWithBody ? body : answerBody
            return .response(response)
        }
    }

    private func stream(
        of connections: ConnectionSelection,
        in scope: ConnectionScope? = nil,
        _ query: EventsQuery,
        _ head: RequestHead
    ) -> HTTPAnswer {
        let fields = HTTPResponse.streamFields(query.format)
        return .stream(fields: fields) { [self] channel in
            var wishes = query.subscription(to: connections, at: loop.wallTime)
            wishes.scope = scope
            hub.subscribe(channel, wishes, from: head.client) { encoder, bytes in
                guard query.choice.types.contains(.status) else { return }
                encoder.appendSnapshot(of: "default", at: loop.wallTime, to: &bytes) { _ in }
            }
        }
    }

    private func poll(_ query: PollQuery) -> HTTPAnswer {
        let filter = query.filter(of: connection)
        let poll = Poll(filter, limit: query.limit, start: query.position(at: loop.wallTime), in: hub.log)
        return .later { [self] held in
            let waiting = hub.wait(poll, for: query.wait ?? .zero) { [self] page in
                let answer = page.map { page in
                    HTTPResponse(status: 200) { page.writeMembers(to: &$0, log: hub.log) }
                }
                held.give(answer ?? HTTPResponse(.historyUnreadable))
            }
            held.onLastCall = { [hub] in hub.answer(waiting) }
        }
    }

    /// The elements of the list of subscribers, as JSON.
    var subscriberList: String {
        var json = JSONWriter()
        json.array { hub.writeSubscribers(of: connection, to: &$0) }
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// Runs the loop until something calls `loop.stop()`, then ends the server.
    func run() {
        loop.run()
    }

    func stop() {
        hub.dropAll()
        endTurn()
        server?.stop()
        server = nil
    }

    /// A client that has sent `request` and collects what comes.
    func client(_ request: String) throws -> TestClient {
        guard case .tcp(let host?, let port) = server?.address else { throw Missing() }
        return TestClient(loop: loop, address: try unwrap(SocketAddress(literal: host, port: port)), request)
    }
}

/// How a stream reaches its client.
enum StreamWay: CaseIterable {
    case detached, suspended, pulled
    /// Without chunks, as there are none in HTTP/1.0.
    case pulledPlain

    var mode: StreamMode {
        switch self {
        case .detached: .detached
        case .suspended: .suspended
        case .pulled, .pulledPlain: .pulled
        }
    }

    /// For what takes long: one in which the hub writes, and one in which it is asked.
    ///
    /// libmicrohttpd's chunks would cut large messages in pieces that `TestClient.endsWith` does not find.
    static let twoKinds = [StreamWay.detached, .pulledPlain]

    /// Of HTTP/1.
    var version: String { self == .pulledPlain ? "1.0" : "1.1" }
    var isChunked: Bool { self != .pulledPlain }
}

struct Missing: Error {}

func unwrap<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw Missing() }
    return value
}

/// A client on the same loop as the service.
@MainActor final class TestClient {
    private(set) var received: [UInt8] = []
    private(set) var hasEnded = false
    /// Called whenever something came or the connection ended.
    var onChange: () -> Void = {}
    private var stream: SocketStream?

    init(loop: Loop, address: SocketAddress, _ request: String) {
        let stream = SocketStream(loop: loop)
        self.stream = stream
        stream.onReceive = { [unowned self] bytes in
            received += bytes.copied()
            onChange()
        }
        stream.onEnd = { [unowned self] _ in
            hasEnded = true
            onChange()
        }
        stream.connect(to: address) { [unowned stream] _ in
            stream.startReading()
            _ = stream.write(Array(request.utf8))
        }
    }

    var text: String { String(decoding: received, as: UTF8.self) }

    func send(_ text: String) { _ = stream?.write(Array(text.utf8)) }
    func pause() { stream?.stopReading() }
    func resume() { stream?.startReading() }
    func leave() { stream = nil }
    /// Sends no more, and goes on reading.
    func finish() { stream?.shutdownWriting() }

    /// The body, its chunks joined if it has any; nil before the head is there.
    var body: String? { bodyBytes.map { String(decoding: $0, as: UTF8.self) } }

    private var bodyBytes: [UInt8]? {
        guard let end = received.firstRange(of: [13, 10, 13, 10]) else { return nil }
        let head = String(decoding: received[..<end.lowerBound], as: UTF8.self).lowercased()
        let body = received[end.upperBound...]
        return head.contains("transfer-encoding: chunked") ? TestClient.unchunked(body) : Array(body)
    }

    /// Whether the last chunk came.
    var isComplete: Bool { text.hasSuffix("0\r\n\r\n") }

    /// Whether the last thing that came is this message, which has one line.
    func endsWith(message: String) -> Bool {
        let end = Array("data: \(message)\n\n".utf8)
        return received.hasSuffix(end) || received.hasSuffix(end + [13, 10])
    }

    /// The values of all `data:` lines.
    var data: [String] {
        (bodyBytes ?? []).split(separator: 10).filter { $0.starts(with: "data: ".utf8) }
            .map { String(decoding: $0.dropFirst(6), as: UTF8.self) }
    }

    private static func unchunked(_ body: ArraySlice<UInt8>) -> [UInt8] {
        var rest = body
        var joined: [UInt8] = []
        while let line = rest.firstIndex(of: 13) {
            let digits = String(decoding: rest[..<line], as: UTF8.self)
            let start = line + 2
            guard let size = Int(digits, radix: 16), size > 0, rest.endIndex >= start + size else { break }
            joined += rest[start..<(start + size)]
            rest = rest[min(rest.endIndex, start + size + 2)...]
        }
        return joined
    }
}

extension Span<UInt8> {
    func copied() -> [UInt8] { unsafe withUnsafeBufferPointer { unsafe Array($0) } }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ bytes: [UInt8]) -> Bool { suffix(bytes.count).elementsEqual(bytes) }

    /// The first place where `wanted` stands.
    fileprivate func firstRange(of wanted: [UInt8]) -> Range<Int>? {
        indices.first { self[$0] == wanted[0] && self[$0...].starts(with: wanted) }.map {
            $0..<($0 + wanted.count)
        }
    }
}
