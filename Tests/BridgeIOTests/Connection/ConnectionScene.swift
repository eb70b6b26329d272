import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol

/// A managed connection, the upstream it is to talk to, and the loop that both live on.
@MainActor final class ConnectionScene {
    /// Keeps what a connection puts into the event log.
    @MainActor final class Log: @MainActor ConnectionSink {
        private(set) var records: [Lifecycle] = []
        private(set) var texts: [String] = []
        private(set) var written: [String] = []

        private(set) var topics: [String?] = []

        @discardableResult func received(_ message: Message, topic: String?) -> EventID {
            texts.append(String(decoding: message.bytes, as: UTF8.self))
            topics.append(topic)
            return EventID(epoch: Epoch(bits: 1), sequence: UInt64(texts.count))
        }

        func sent(_ message: Message) {
            written.append(String(decoding: message.bytes, as: UTF8.self))
        }

        func happened(_ event: Lifecycle) {
            records.append(event)
        }

        func remarked(_ remark: SocketRemark) {}
    }

    let loop = Loop()
    let log = Log()
    let upstream: UpstreamDouble
    let connection: ManagedConnection
    private(set) var sent: [MessageID] = []
    private(set) var lost: [MessageID] = []

    /// Short waits, so that what is awaited comes soon; nothing in a test depends on how soon.
    init(_ configure: (inout ConnectionSettings) -> Void = { _ in }) throws {
        var settings = ConnectionSettings()
        settings.reconnect.initialDelay = .milliseconds(1)
        settings.reconnect.maxDelay = .milliseconds(10)
        configure(&settings)
        upstream = try UpstreamDouble(loop: loop)
        let url = try WebSocketURL("ws://127.0.0.1:\(upstream.port)/feed?secret")
        connection = ManagedConnection(
            name: "default",
            route: UpstreamRoute(
                UpstreamTarget(terms: ClientHandshake.Terms(url: url), maximumMessageBytes: 1 << 20)
            ),
            settings: settings,
            surroundings: .init(
                loop: loop,
                flushes: FlushRound(loop: loop),
                sink: log,
                outbox: OutboxID(epoch: Epoch(bits: 1), number: 1),
                wallClock: { WallTime(millisecondsSince1970: 0) }
            )
        )
        connection.onEnd = { [weak self] id, state in
            if state.sentAt == nil { self?.lost.append(id) } else { self?.sent.append(id) }
        }
    }

    /// A scene whose connection is ready.
    static func open(_ configure: (inout ConnectionSettings) -> Void = { _ in }) throws -> ConnectionScene {
        let scene = try ConnectionScene(configure)
        scene.connection.start()
        scene.run { scene.connection.isReady && scene.upstream.peers.first?.isOpen == true }
        return scene
    }

    /// Runs the loop until `isDone`, which is asked once a turn; gives up, as an issue, after a minute.
    func run(until isDone: () -> Bool, _ location: SourceLocation = #_sourceLocation) {
        var isStuck = false
        let patience = loop.startTimer(after: .seconds(60)) { [loop] in
            isStuck = true
            loop.stop()
        }
        withoutActuallyEscaping(isDone) { isDone in
            let hook = BeforeWaiting(loop: loop) { [loop] in if isDone() { loop.stop() } }
            loop.run()
            withExtendedLifetime(hook) {}
        }
        patience.cancel()
        if isStuck { Issue.record("it never happens", sourceLocation: location) }
    }

    @discardableResult
    func send(_ text: String) throws -> MessageID {
        try unwrap(connection.send([Message(.text, Array(text.utf8))]).first)
    }

    func peer(_ index: Int) throws -> UpstreamDouble.Peer {
        try #require(upstream.peers.indices.contains(index) ? upstream.peers[index] : nil)
    }

    /// Sends this many messages of 100 kB, which are more than the kernel takes from a peer that does not read.
    func upload(_ count: Int) throws {
        let padding = String(repeating: "x", count: 100_000)
        for number in 0..<count { try send("\(number) \(padding)") }
    }

    /// Room for such uploads.
    static func makeRoom(_ settings: inout ConnectionSettings) {
        settings.outbox.maxBytes = 64 << 20
    }
}

extension UpstreamRoute {
    /// To one URL, on its terms.
    init(_ target: UpstreamTarget) {
        self.init(source: .listed([target.terms.url]), proxy: target.proxy, tls: target.tls) { _ in target }
    }
}
