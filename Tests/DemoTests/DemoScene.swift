import BridgeCore
import BridgeIO
import Demo
import Testing
import WebSocketProtocol

/// A demo upstream on a loop of its own, and those who connect to it.
@MainActor final class DemoScene {
    let loop = Loop()
    private(set) var upstream: DemoUpstream?

    /// Ticks so seldom that none comes unless the test asks for it.
    init(_ configure: (inout DemoUpstream.Settings) -> Void = { _ in }) throws {
        var settings = DemoUpstream.Settings()
        settings.tickInterval = .seconds(3600)
        settings.patience = .seconds(3600)
        configure(&settings)
        upstream = try DemoUpstream(loop: loop, settings: settings) {
            WallTime(millisecondsSince1970: 1_796_025_600_123)
        }
    }

    /// Runs the loop until `isDone`, which is asked once a turn; gives up, as an issue, after a minute.
    func run(until isDone: () -> Bool, _ location: SourceLocation = #_sourceLocation) {
        var isStuck = false
        let patience = loop.startTimer(after: .seconds(60)) { [loop] in
            isStuck = true
            loop.stop()
        }
        // Keeps the loop turning, so that the question is asked although nothing comes.
        var pulse: LoopTimer?
        func beat() { pulse = loop.startTimer(after: .milliseconds(5)) { beat() } }
        beat()
        withoutActuallyEscaping(isDone) { isDone in
            let hook = BeforeWaiting(loop: loop) { [loop] in if isDone() { loop.stop() } }
            loop.run()
            withExtendedLifetime((hook, pulse, patience)) {}
        }
        if isStuck { Issue.record("it never happens", sourceLocation: location) }
    }

    /// Runs the loop until the upstream takes no more of what the client wrote.
    func runUntilBlocked(_ client: RawClient) {
        var last = (unwritten: -1, turns: 0)
        run {
            let unwritten = client.unwrittenBytes
            last = (unwritten, unwritten == last.unwritten ? last.turns + 1 : 0)
            return last.turns == 20
        }
    }

    func endUpstream() { upstream = nil }

    /// A client of the product, which is open when this returns.
    func connect(subprotocols: [String] = []) throws -> SocketClient {
        let client = try SocketClient(loop: loop, url: #require(upstream).url, subprotocols: subprotocols)
        run { !client.events.isEmpty }
        return client
    }

    /// A client that sends any bytes.
    func connectRaw() throws -> RawClient {
        let port = try #require(upstream).port
        return try RawClient(loop: loop, address: #require(SocketAddress(literal: "127.0.0.1", port: port)))
    }
}

/// The product's own WebSocket client, with what it reported.
@MainActor final class SocketClient {
    private(set) var events: [SocketEvent] = []
    private(set) var socket: UpstreamSocket?

    init(loop: Loop, url: String, subprotocols: [String]) throws {
        var terms = ClientHandshake.Terms(url: try WebSocketURL(url))
        terms.subprotocols = subprotocols
        terms.compression = DeflateOffer()
        let target = UpstreamTarget(terms: terms, maximumMessageBytes: 1 << 26)
        socket = UpstreamSocket(loop: loop, target: target) { [weak self] event in
            if case .written = event { return }
            self?.events.append(event)
        }
        socket?.dial()
    }

    var messages: [Message] {
        events.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }

    var texts: [String] { messages.map { String(decoding: $0.bytes, as: UTF8.self) } }

    var isOver: Bool {
        switch events.last {
        case .ended, .failed: true
        case nil, .opened, .message, .ping, .pong, .closeFrame, .violation, .written: false
        }
    }

    func send(_ message: Message) {
        _ = socket?.send(message)
        socket?.flush()
    }

    func drop() { socket = nil }
}

/// A TCP client, with what it got.
@MainActor final class RawClient {
    private(set) var bytes: [UInt8] = []
    private(set) var hasEnded = false
    private(set) var isConnected = false
    private var stream: SocketStream?

    init(loop: Loop, address: SocketAddress) throws {
        let stream = SocketStream(loop: loop)
        self.stream = stream
        stream.onReceive = { [weak self] in self?.received($0) }
        stream.onEnd = { [weak self] _ in self?.hasEnded = true }
        stream.connect(to: address) { [weak self] error in
            self?.isConnected = error == nil
            self?.stream?.startReading()
        }
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    private func received(_ piece: Span<UInt8>) {
        // Arrays cannot append spans yet, and a loop over megabytes takes seconds.
        unsafe piece.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) { _ = stream?.write(bytes) }

    /// Closes the socket; what is unread makes this a reset.
    func drop() { stream = nil }

    func stopReading() { stream?.stopReading() }

    func startReading() { stream?.startReading() }

    var unwrittenBytes: Int { stream?.unwrittenBytes ?? 0 }
}
