internal import BridgeCore
internal import WebSocketProtocol

extension UpstreamSocket {
    /// What was read and not handled yet.
    struct Reading {
        var budget = ReadBudget()
        /// Bytes that had to wait for the next turn.
        var backlog: [UInt8] = []
        /// The end of the stream, which came while bytes waited.
        var end: String??
        var nextTurn: NextTurn?
        /// The connection asked for a pause.
        var isPaused = false

        var hasBacklog: Bool { !backlog.isEmpty }
    }

    /// Leaves messages to the kernel, so that the peer slows down; what was read already is still reported.
    package var isHeldBack: Bool {
        get { reading.isPaused }
        set {
            reading.isPaused = newValue
            // The handshake is read all the same.
            switch state {
            case .open(let transport, _), .refusing(let transport, _):
                if newValue {
                    transport.stopReading()
                } else if !reading.hasBacklog {
                    transport.startReading()
                }
            case .idle, .dialling, .securing, .handshaking, .refused, .over: break
            }
        }
    }

    /// Bytes that came in so far, whether they are a whole frame or not.
    package var receivedBytes: UInt64 { transport?.receivedBytes ?? 0 }

    /// What is known of what came in and was not reported.
    var intake: Intake {
        if reading.hasBacklog || reading.isPaused { return .unread }
        guard case .open(_, let session) = state, session.decoder.isInsideMessage else {
            return .betweenMessages
        }
        return .insideMessage
    }

    func received(_ bytes: Span<UInt8>) {
        guard !reading.hasBacklog else { return keep(bytes, from: 0) }
        if case .refused(_, let failure, let excerpt, _) = state {
            return wait(for: excerpt, of: failure, bytes, from: 0)
        }
        var offset = 0
        if case .handshaking(let transport, var handshake) = state {
            do throws(HandshakeFailure) {
                let agreement = try handshake.read(bytes, from: &offset)
                guard let agreement else {
                    state = .handshaking(transport, handshake)
                    return
                }
                open(transport, agreement)
            } catch {
                return refused(error, handshake, bytes, from: offset)
            }
        }
        // What follows the head are the server's first frames.
        readFrames(in: bytes, from: &offset)
        if reading.budget.isSpent { yield(bytes, from: offset) }
    }

    private func open(_ transport: UpstreamTransport, _ agreement: ClientHandshake.Agreement) {
        let session = FrameSession(
            compression: agreement.compression,
            maximumMessageBytes: target.maximumMessageBytes
        )
        state = .open(transport, session)
        if reading.isPaused { transport.stopReading() }
        onEvent(.opened(subprotocol: agreement.subprotocol, compression: agreement.compression != nil))
    }

    private func readFrames(in bytes: Span<UInt8>, from offset: inout Int) {
        // Each event may drop the socket.
        while !reading.budget.isSpent, case .open(let transport, let session) = state {
            do throws(WebSocketFailure) {
                guard let event = try session.decoder.next(in: bytes, from: &offset) else { return }
                reading.budget.spend(payloadBytes: event.payloadBytes)
                onEvent(SocketEvent(event))
            } catch {
                state = .refusing(transport, session)
                onEvent(.violation(error))
            }
        }
    }

    // MARK: Letting others have their turn

    /// Stops reading until the next turn, and keeps what is not handled yet.
    private func yield(_ bytes: Span<UInt8>, from offset: Int) {
        keep(bytes, from: offset)
        transport?.stopReading()
        let turn = reading.nextTurn ?? NextTurn(loop: loop) { [unowned self] in goOn() }
        reading.nextTurn = turn
        turn.schedule()
    }

    /// At most what one read of the network brought.
    private func keep(_ bytes: Span<UInt8>, from offset: Int) {
        guard case .open = state, offset < bytes.count else { return }
        unsafe bytes.extracting(offset...).withUnsafeBufferPointer { rest in
            unsafe reading.backlog.append(contentsOf: rest)
        }
    }

    private func goOn() {
        let backlog = reading.backlog
        reading.backlog = []
        reading.budget = ReadBudget()
        var offset = 0
        readFrames(in: backlog.span, from: &offset)
        if reading.budget.isSpent { return yield(backlog.span, from: offset) }
        if let end = reading.end { return transportEnded(end) }
        if !reading.isPaused { transport?.startReading() }
    }
}

extension FrameEvent {
    /// What the event holds in memory.
    fileprivate var payloadBytes: Int {
        switch self {
        case .message(let message): message.bytes.count
        case .ping(let payload), .pong(let payload): payload.count
        case .close: 0
        }
    }
}
