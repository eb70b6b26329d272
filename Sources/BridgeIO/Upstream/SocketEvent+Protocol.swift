internal import BridgeCore
internal import WebSocketProtocol

extension SocketEvent {
    nonisolated init(_ event: FrameEvent) {
        switch event {
        case .message(let message): self = .message(message)
        case .ping(let payload): self = .ping(payload)
        case .pong(let payload): self = .pong(payload)
        case .close(let code, let reason): self = .closeFrame(code: code, reason: reason)
        }
    }
}

extension DialFailure {
    /// The failure of an attempt whose handshake was refused just now.
    nonisolated init(_ failure: HandshakeFailure, at now: WallTime) {
        self.init(phase: .handshake, error: failure.description)
        guard case .status(let status, let field) = failure else { return }
        self.status = status
        retryAfter = field?.delay(at: now)
    }
}
