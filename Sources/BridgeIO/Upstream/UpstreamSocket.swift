package import BridgeCore
package import WebSocketProtocol

/// One dialled WebSocket connection, from the name's resolution to the last byte.
///
/// Reports facts in order and decides nothing: deadlines, pongs and the close handshake are its connection's.
/// Letting go of it closes the connection. All events come on a later turn than the call that caused them, but
/// for `written`, which may come from within `flush`.
package final class UpstreamSocket {
    private enum State {
        /// Becomes dialling.
        case idle
        /// Resolving or connecting; becomes securing or over.
        case dialling(AddressDial)
        /// Shaking hands over TLS; becomes handshaking or over.
        case securing(UpstreamTransport)
        /// The request is out; becomes open or over.
        case handshaking(UpstreamTransport, ClientHandshake)
        /// Becomes refusing or over.
        case open(UpstreamTransport, FrameSession)
        /// The peer broke the protocol: what comes is discarded, our close frame still goes out.
        case refusing(UpstreamTransport, FrameSession)
        /// Reported as failed or ended, or dropped.
        case over
    }

    private let loop: Loop
    private let target: UpstreamTarget
    private let onEvent: (SocketEvent) -> Void
    private var state: State = .idle
    /// The last frame that was handed to the network, and whether it has not taken all yet.
    private var flushedFrame: UInt64 = 0
    private var isDraining = false

    package init(loop: Loop, target: UpstreamTarget, onEvent: @escaping (SocketEvent) -> Void) {
        self.loop = loop
        self.target = target
        self.onEvent = onEvent
    }

    isolated deinit {
        transport?.close()
    }

    /// Where the attempt stands, for a deadline that ends it before it opened.
    package var dialPhase: DialPhase {
        switch state {
        case .dialling(let dial): dial.phase
        case .securing: .tls
        case .idle: .dns
        case .handshaking, .open, .refusing, .over: .handshake
        }
    }

    /// Ends the connection at once; no event follows.
    package func drop() {
        transport?.close()
        state = .over
    }

    private var transport: UpstreamTransport? {
        switch state {
        case .securing(let transport), .handshaking(let transport, _), .open(let transport, _),
            .refusing(let transport, _):
            transport
        case .idle, .dialling, .over: nil
        }
    }
}

// MARK: - Dialling

extension UpstreamSocket {
    /// Begins the attempt; call it once.
    package func dial() {
        guard case .idle = state else { return }
        // Unowned, here and below, since one weak reference makes every retain on the message path slower: a
        // dial that was let go of calls nothing.
        let dial = AddressDial(loop: loop, endpoint: target.terms.url.endpoint) { [unowned self] in
            dialled($0)
        }
        state = .dialling(dial)
    }

    private func dialled(_ outcome: AddressDial.Outcome) {
        switch outcome {
        case .failure(let failure):
            fail(failure)
        case .success(let stream):
            begin(stream)
        }
    }

    private func begin(_ stream: TCPStream) {
        let tls: TLSSession?
        do throws(TLSFailure) {
            tls = try target.tlsSession()
        } catch {
            return fail(DialFailure(phase: .tls, error: error.error))
        }
        let transport = UpstreamTransport(stream, tls: tls)
        state = .securing(transport)
        // A transport that was closed, as `drop` and `deinit` do, calls nothing.
        transport.onReady = { [unowned self] in shakeHands() }
        transport.onReceive = { [unowned self] in received($0) }
        transport.onDrain = { [unowned self] in drained() }
        transport.onEnd = { [unowned self] in transportEnded($0) }
        transport.start()
    }

    private func shakeHands() {
        guard case .securing(let transport) = state else { return }
        do throws(HandshakeRequestError) {
            let handshake = try target.handshake()
            state = .handshaking(transport, handshake)
            _ = transport.write(handshake.request)
        } catch {
            fail(DialFailure(phase: .handshake, error: error.description))
        }
    }

    private func fail(_ failure: DialFailure) {
        transport?.close()
        state = .over
        onEvent(.failed(failure))
    }

    private func transportEnded(_ error: String?) {
        switch state {
        case .securing:
            let text = error ?? "the upstream closed the connection during the TLS handshake"
            fail(DialFailure(phase: .tls, error: text))
        case .handshaking:
            let text = error ?? "the upstream closed the connection without an answer to the handshake"
            fail(DialFailure(phase: .handshake, error: text))
        case .open, .refusing:
            state = .over
            onEvent(.ended(error: error))
        case .idle, .dialling, .over:
            break
        }
    }
}

// MARK: - Receiving

extension UpstreamSocket {
    /// Leaves what comes to the kernel, so that the peer slows down; what was read already is still reported.
    package func pauseReading() {
        transport?.pause()
    }

    /// Reads again after `pauseReading`.
    package func resumeReading() {
        transport?.resume()
    }

    /// Bytes that came in so far, whether they are a whole frame or not.
    package var receivedBytes: UInt64 { transport?.receivedBytes ?? 0 }

    private func received(_ bytes: Span<UInt8>) {
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
                fail(DialFailure(error))
            }
        }
        // What follows the head are the server's first frames.
        readFrames(in: bytes, from: &offset)
    }

    private func open(_ transport: UpstreamTransport, _ agreement: ClientHandshake.Agreement) {
        let session = FrameSession(
            compression: agreement.compression,
            maximumMessageBytes: target.maximumMessageBytes
        )
        state = .open(transport, session)
        onEvent(.opened(subprotocol: agreement.subprotocol, compression: agreement.compression != nil))
    }

    private func readFrames(in bytes: Span<UInt8>, from offset: inout Int) {
        // Each event may drop the socket.
        while case .open(let transport, let session) = state {
            do throws(WebSocketFailure) {
                guard let event = try session.decoder.next(in: bytes, from: &offset) else { return }
                onEvent(SocketEvent(event))
            } catch {
                state = .refusing(transport, session)
                onEvent(.violation(error))
            }
        }
    }
}

// MARK: - Sending

extension UpstreamSocket {
    /// Bytes of frames that the kernel did not take yet.
    package var unwrittenBytes: Int {
        guard let session else { return 0 }
        return session.output.count + (transport?.unwrittenBytes ?? 0)
    }

    /// Takes a message for the next `flush`; gives the frame's number, or 0 when the socket is not open.
    package func send(_ message: Message) -> UInt64 {
        session?.append(message) ?? 0
    }

    /// Takes a ping, of at most 125 bytes, for the next `flush`; gives the frame's number or 0.
    package func sendPing(_ payload: [UInt8]) -> UInt64 {
        session?.appendPing(payload) ?? 0
    }

    /// Takes a pong, of at most 125 bytes, for the next `flush`; gives the frame's number or 0.
    @discardableResult package func sendPong(_ payload: [UInt8]) -> UInt64 {
        session?.appendPong(payload) ?? 0
    }

    /// Takes a close frame for the next `flush`; gives the frame's number or 0.
    ///
    /// A code that must not be on the wire (1005, 1006, …) goes out as none, a long reason is cut.
    @discardableResult package func sendClose(code: UInt16?, reason: String) -> UInt64 {
        session?.appendClose(code: code, reason: reason) ?? 0
    }

    /// Writes all that was taken, in one system call.
    ///
    /// While the kernel has not taken the last write entirely, what comes after it waits for that.
    package func flush() {
        guard !isDraining, let session, let transport, !session.output.isEmpty else { return }
        flushedFrame = session.lastFrame
        isDraining = !transport.write(session.output)
        session.clearOutput()
        if !isDraining { onEvent(.written(through: flushedFrame)) }
    }

    private func drained() {
        guard isDraining else { return }
        isDraining = false
        onEvent(.written(through: flushedFrame))
        flush()
    }

    private var session: FrameSession? {
        switch state {
        case .open(_, let session), .refusing(_, let session): session
        case .idle, .dialling, .securing, .handshaking, .over: nil
        }
    }
}
