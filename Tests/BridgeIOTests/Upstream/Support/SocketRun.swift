import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol

/// Drives one upstream socket on a loop and keeps its events.
@MainActor final class SocketRun {
    private(set) var events: [SocketEvent] = []
    private(set) var remarks: [SocketRemark] = []
    let socket: UpstreamSocket
    private let loop: Loop

    /// Dials on the next `run`; `change` adds to what is asked of `url`, `onEvent` hears each event.
    init(
        loop: Loop,
        url: String,
        maximumMessageBytes: Int = 16 << 20,
        tls: TLSSettings = TLSSettings(),
        proxy: ProxyRule = .none,
        asking change: TermsChange = .none,
        onEvent: @escaping (SocketRun, SocketEvent) -> Void = { _, _ in }
    ) throws {
        self.loop = loop
        var terms = ClientHandshake.Terms(url: try WebSocketURL(url))
        change.apply(&terms)
        let target = UpstreamTarget(
            terms: terms,
            maximumMessageBytes: maximumMessageBytes,
            tls: tls,
            proxy: proxy
        )
        let receiver = Receiver()
        socket = UpstreamSocket(loop: loop, target: target) { receiver.run?.took($0, onEvent) }
        receiver.run = self
        socket.onRemark = { receiver.run?.remarks.append($0) }
    }

    /// Dials and runs the loop until the socket's last event, or until a test stops the loop.
    func run() {
        socket.dial()
        resume()
    }

    /// Runs the loop again after a stop.
    func resume() {
        // Nothing here takes long: this only turns a hang into a failure.
        let guardian = loop.startTimer(after: .seconds(20)) { [loop] in
            Issue.record("nothing happens any more")
            loop.stop()
        }
        loop.run()
        withExtendedLifetime(guardian) {}
    }

    func stop() { loop.stop() }

    /// Sends a message and flushes.
    func send(_ message: Message) {
        _ = socket.send(message)
        socket.flush()
    }

    /// The events but for `written`.
    var facts: [SocketEvent] {
        events.filter { event in
            guard case .written = event else { return true }
            return false
        }
    }

    /// The failure of the attempt, if it failed.
    var failure: DialFailure? {
        guard case .failed(let failure)? = events.last else { return nil }
        return failure
    }

    private func took(_ event: SocketEvent, _ onEvent: (SocketRun, SocketEvent) -> Void) {
        events.append(event)
        onEvent(self, event)
        switch event {
        case .failed, .ended: loop.stop()
        case .opened, .message, .ping, .pong, .closeFrame, .violation, .written: break
        }
    }

    private final class Receiver {
        weak var run: SocketRun?
    }
}

/// What a test asks for beyond a URL.
@MainActor struct TermsChange {
    static let none = TermsChange { _ in }

    var apply: (inout ClientHandshake.Terms) -> Void

    init(_ apply: @escaping (inout ClientHandshake.Terms) -> Void) {
        self.apply = apply
    }
}
