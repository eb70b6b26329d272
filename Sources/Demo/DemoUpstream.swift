package import BridgeCore
package import BridgeIO
internal import WebSocketProtocol

/// The WebSocket server of `wsbridge demo`, on 127.0.0.1: sends messages back, and a tick each second.
///
/// A tick is the text `{"tick":N,"time":"…"}`, with N counted from 1 since the start. Letting go of it closes
/// everything. Any process of the machine can connect to it, which harms none: it knows nothing.
package final class DemoUpstream {
    /// How it treats its clients.
    package struct Settings: Sendable {
        package var tickInterval = Duration.seconds(1)
        /// For a client to complete the handshake, and to hang up after the end.
        package var patience = Duration.seconds(5)
        /// Connections beyond are closed at once.
        package var maximumClients = 32
        /// A longer message is answered with 1009.
        package var maximumMessageBytes = 4 << 20

        package init() {}
    }

    private let loop: Loop
    private let settings: Settings
    private let wallTime: () -> WallTime
    private var listener: TCPListener?
    private var clients: [ObjectIdentifier: DemoClient] = [:]
    private var ticker: LoopTimer?
    private var ticks: UInt64 = 0

    /// Listens on a free port; `wallTime` is what ticks tell.
    ///
    /// - Throws: `ListenFailure` if there is no port to be had.
    package init(
        loop: Loop,
        settings: Settings = Settings(),
        wallTime: @escaping () -> WallTime
    ) throws(ListenFailure) {
        self.loop = loop
        self.settings = settings
        self.wallTime = wallTime
        guard let local = SocketAddress(literal: "127.0.0.1", port: 0) else {
            throw ListenFailure(error: "no IPv4")
        }
        listener = try TCPListener(loop: loop, address: local) { [weak self] in self?.admit($0) }
        startTicker()
    }

    /// The port that the system chose.
    package var port: UInt16 { listener?.address?.port ?? 0 }

    /// Where to connect to; every other path will do as well.
    package var url: String { "ws://127.0.0.1:\(port)/" }

    private func admit(_ stream: SocketStream) {
        guard clients.count < settings.maximumClients else { return }
        let client = DemoClient(loop: loop, stream: stream, settings: settings) { [weak self] client in
            self?.clients[ObjectIdentifier(client)] = nil
        }
        clients[ObjectIdentifier(client)] = client
    }

    private func startTicker() {
        ticker = loop.startTimer(after: settings.tickInterval) { [weak self] in self?.tick() }
    }

    private func tick() {
        startTicker()
        ticks += 1
        var json = JSONWriter()
        json.object { json in
            json.member("tick", ticks)
            json.member("time", wallTime().text)
        }
        for client in clients.values { client.tick(Message(.text, json.bytes)) }
    }
}
