import BridgeCore
import BridgeIO
import WebSocketProtocol

/// One connection to the test suite: echoes what comes, answers pings and closes as the suite expects.
///
/// Drives the bridge's own `UpstreamSocket`, with the least that a connection does on top of it.
final class EchoRun {
    /// The first text that came; the suite's answer to `getCaseCount`.
    private(set) var firstText: String?
    /// Why the connection could not be used.
    private(set) var failure: String?

    /// How long the peer has to end the stream after the close frames.
    private static let closeTimeout: Duration = .seconds(2)
    private static let maximumMessageBytes = 64 << 20

    private let loop: Loop
    private let echoes: Bool
    private var socket: UpstreamSocket?
    private var sentClose = false
    private var closeTimer: LoopTimer?

    /// Dials `url` and runs the loop until the connection has ended.
    init(loop: Loop, url: WebSocketURL, compression: DeflateOffer?, echoes: Bool) {
        self.loop = loop
        self.echoes = echoes
        var terms = ClientHandshake.Terms(url: url)
        terms.compression = compression
        let target = UpstreamTarget(terms: terms, maximumMessageBytes: Self.maximumMessageBytes)
        let socket = UpstreamSocket(loop: loop, target: target) { [unowned self] in handle($0) }
        self.socket = socket
        let hook = AfterInput(loop: loop) { socket.flush() }
        socket.dial()
        loop.run()
        // Whoever keeps this object for its results must not keep what could stop a later run.
        closeTimer = nil
        socket.drop()
        withExtendedLifetime(hook) {}
    }

    private func handle(_ event: SocketEvent) {
        switch event {
        case .opened, .pong, .written:
            break
        case .message(let message):
            if firstText == nil, message.kind == .text {
                firstText = String(decoding: message.bytes, as: UTF8.self)
            }
            if echoes, !sentClose { _ = socket?.send(message) }
        case .ping(let payload):
            if !sentClose { socket?.sendPong(payload) }
        case .closeFrame(let code, _):
            close(code: code, reason: "")
        case .violation(let violation):
            close(code: violation.code, reason: violation.reason)
        case .failed(let failed):
            failure = "\(failed.phase.rawValue): \(failed.error)"
            loop.stop()
        case .ended:
            loop.stop()
        }
    }

    private func close(code: UInt16?, reason: String) {
        guard !sentClose else { return }
        sentClose = true
        socket?.sendClose(code: code, reason: reason)
        socket?.flush()
        closeTimer = loop.startTimer(after: Self.closeTimeout) { [loop] in loop.stop() }
    }
}
