import BridgeCore
import WebSocketProtocol

extension ConnectionWorld {
    /// A world whose connection is open and ready.
    static func open(_ configure: (inout ConnectionSettings) -> Void = { _ in }) throws -> ConnectionWorld {
        var world = ConnectionWorld(configure)
        try world.tell(.started)
        try world.socket(.plainlyOpened)
        return world
    }

    /// A world whose connection stands like that; it has one retry.
    init(standing: ConnectionMachine.Standing) throws {
        self.init {
            $0.connect = .manual
            $0.reconnect.maxRetries = 1
        }
        guard standing != .idle else { return }
        try tell(.connectRequested)
        switch standing {
        case .idle, .connecting: break
        case .open: try socket(.plainlyOpened)
        case .closing:
            try socket(.plainlyOpened)
            try socket(.closeFrame(code: 1000, reason: "bye"))
        case .waiting: try socket(.refused)
        case .offline: try tell(.networkLost)
        case .paused: try tell(.pauseRequested)
        case .closed: try tell(.disconnectRequested(code: 1000, reason: ""))
        case .failed:
            try socket(.refused)
            try advance(.seconds(1))
            try socket(.refused)
        }
    }

    /// One heartbeat later: it has been written.
    @discardableResult
    mutating func beat(_ interval: Duration) throws -> [UInt8] {
        let payload = try advance(interval).pings.last ?? []
        try writeHeartbeat()
        return payload
    }

    mutating func writeHeartbeat() throws {
        guard let socket else { return }
        try tell(.frameWritten(socket.id, .heartbeat))
    }
}

extension SocketEvent {
    static let plainlyOpened = SocketEvent.opened(subprotocol: nil, compression: false)

    /// A refused connection.
    static let refused = SocketEvent.failed(DialFailure(phase: .tcp, error: "connection refused"))

    static func answered(_ status: Int, retryAfter: Duration? = nil) -> SocketEvent {
        .failed(DialFailure(phase: .handshake, status: status, retryAfter: retryAfter, error: "refused"))
    }

    static func text(_ text: String) -> SocketEvent { .message(Message(.text, Array(text.utf8))) }
}

extension [ConnectionMachine.Action] {
    var pings: [[UInt8]] {
        compactMap { if case .sendPing(_, let payload) = $0 { payload } else { nil } }
    }

    /// Heartbeats that are messages.
    var beats: [Message] {
        compactMap { if case .sendHeartbeat(_, let message) = $0 { message } else { nil } }
    }

    /// What `onOpen` sends.
    var said: [Message] {
        compactMap { if case .sendScript(_, let message) = $0 { message } else { nil } }
    }

    var replies: [Message] {
        compactMap { if case .sendReply(_, let message, _) = $0 { message } else { nil } }
    }

    var pongs: [[UInt8]] {
        compactMap { if case .sendPong(_, let payload) = $0 { payload } else { nil } }
    }

    var records: [Lifecycle] {
        compactMap { if case .record(let event) = $0 { event } else { nil } }
    }

    var delivered: [Message] {
        compactMap { if case .deliver(let message, _, _) = $0 { message } else { nil } }
    }

    var dials: Int {
        count { if case .dial = $0 { true } else { false } }
    }

    var drops: Int {
        count { if case .drop = $0 { true } else { false } }
    }

    var timers: [Duration] {
        compactMap { if case .startTimer(_, let delay) = $0 { delay } else { nil } }
    }
}

extension [Lifecycle] {
    var reconnecting: [Duration] {
        compactMap { if case .reconnecting(_, let delay) = $0 { delay } else { nil } }
    }
}
