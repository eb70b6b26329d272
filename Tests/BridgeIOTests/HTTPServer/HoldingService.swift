import BridgeCore
import BridgeIO
import Testing

/// An HTTP server that answers nothing by itself, on a loop that a test runs.
@MainActor final class HoldingService: HTTPHandler {
    let loop = Loop()
    private(set) var server: HTTPServer?
    /// The requests whose answers are owed, oldest first.
    private(set) var held: [HeldAnswer] = []
    /// Bodies of all requests so far.
    private(set) var bodies: [String] = []
    private(set) var lastCalls = 0
    /// Runs when a request is there.
    var onRequest: (HeldAnswer) -> Void = { _ in }
    /// Given when there is no more time; nil: nothing.
    var lastWord: HTTPResponse?
    private let gate: RequestGate
    private let address: SocketAddress
    private var turnEnd: BeforeWaiting?

    init(requestTimeout: Duration = .seconds(30)) throws {
        var settings = HTTPSettings()
        settings.listen = .tcp(host: "127.0.0.1", port: 0)
        settings.requestTimeout = requestTimeout
        gate = RequestGate(settings, ownNames: [])
        let socket = try ListenSocket(settings.listen)
        guard case .tcp(let host?, let port) = socket.address else { throw Missing() }
        address = try unwrap(SocketAddress(literal: host, port: port))
        server = try HTTPServer(loop: loop, socket: socket, settings: settings, handler: self)
        turnEnd = BeforeWaiting(loop: loop) { [unowned self] in endTurn() }
    }

    func endTurn() {
        guard let server else { return }
        for _ in 0..<16 {
            guard server.runIfNeeded() else { break }
        }
        server.prepareToWait()
    }

    let rules = 0

    func admit(_ head: RequestHead) -> Admission {
        gate.admit(head, connections: ["default"])
    }

    func serve(_ request: AdmittedRequest, body: [UInt8], from head: RequestHead) -> HTTPAnswer {
        bodies.append(String(decoding: body, as: UTF8.self))
        return .later { [self] held in
            self.held.append(held)
            held.onLastCall = { [unowned self, unowned held] in
                lastCalls += 1
                if let lastWord { held.give(lastWord) }
            }
            onRequest(held)
        }
    }

    /// Runs the loop until `isDone`, which is asked once a turn; gives up, as an issue, after half a minute.
    func run(until isDone: () -> Bool, _ location: SourceLocation = #_sourceLocation) {
        var isStuck = false
        let patience = loop.startTimer(after: .seconds(30)) { [loop] in
            isStuck = true
            loop.stop()
        }
        withoutActuallyEscaping(isDone) { isDone in
            let hook = BeforeWaiting(loop: loop) { [loop] in if isDone() { loop.stop() } }
            // So that a turn comes even when nothing happens.
            let tick = LoopTicker(loop: loop)
            loop.run()
            withExtendedLifetime((hook, tick)) {}
        }
        patience.cancel()
        if isStuck { Issue.record("it never happens", sourceLocation: location) }
    }

    func stop() {
        server?.stop()
        server = nil
    }

    func client(_ requests: String...) -> TestClient {
        TestClient(loop: loop, address: address, requests.joined())
    }

    static func post(_ body: String) -> String {
        "POST /messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}

/// Keeps the loop turning.
@MainActor private final class LoopTicker {
    private let loop: Loop
    private var timer: LoopTimer?

    init(loop: Loop) {
        self.loop = loop
        next()
    }

    private func next() {
        timer = loop.startTimer(after: .milliseconds(5)) { [unowned self] in next() }
    }
}
