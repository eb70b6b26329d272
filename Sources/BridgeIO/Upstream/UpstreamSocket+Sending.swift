internal import BridgeCore
package import WebSocketProtocol

extension UpstreamSocket {
    /// Bytes of frames that the kernel did not take yet.
    package var unwrittenBytes: Int {
        switch state {
        case .open(let transport, let session), .refusing(let transport, let session):
            session.outgoing.bytes.count + transport.unwrittenBytes
        case .idle, .dialling, .securing, .handshaking, .refused, .over: 0
        }
    }

    /// Bytes of frames that the kernel did take.
    package var writtenBytes: Int { (session?.outgoing.encodedBytes ?? 0) - unwrittenBytes }

    /// Takes a message for the next `flush`; gives the frame's number, or 0 when the socket is not open.
    package func send(_ message: Message) -> UInt64 {
        session?.outgoing.append(message) ?? 0
    }

    /// Takes a ping, of at most 125 bytes, for the next `flush`; gives the frame's number or 0.
    package func sendPing(_ payload: [UInt8]) -> UInt64 {
        session?.outgoing.appendPing(payload) ?? 0
    }

    /// Takes a pong, of at most 125 bytes, for the next `flush`; gives the frame's number or 0.
    @discardableResult package func sendPong(_ payload: [UInt8]) -> UInt64 {
        session?.outgoing.appendPong(payload) ?? 0
    }

    /// Takes a close frame for the next `flush`; gives the frame's number or 0.
    ///
    /// A code that must not be on the wire (1005, 1006, …) goes out as none, a long reason is cut.
    @discardableResult package func sendClose(code: UInt16?, reason: String) -> UInt64 {
        session?.outgoing.appendClose(code: code, reason: reason) ?? 0
    }

    /// Writes all that was taken, in one system call.
    ///
    /// While the kernel has not taken the last write entirely, what comes after it waits for that.
    package func flush() {
        guard !isDraining, let session, let transport, !session.outgoing.bytes.isEmpty else { return }
        draining = session.outgoing.takeMarks()
        isDraining = !transport.write(session.outgoing.bytes)
        session.outgoing.clear()
        if !isDraining { onEvent(.written(through: draining.lastFrame)) }
    }

    /// Reports the frames of a write that the kernel took, if it did not take all.
    ///
    /// Over TLS more waits than the frames are long, so a frame too few is reported, never one too many.
    package func reportWritten() {
        guard isDraining, let transport else { return }
        let frame = draining.lastFrame(within: draining.count - transport.unwrittenBytes)
        if let frame { onEvent(.written(through: frame)) }
    }

    func drained() {
        guard isDraining else { return }
        isDraining = false
        onEvent(.written(through: draining.lastFrame))
        flush()
    }

    private var session: FrameSession? {
        switch state {
        case .open(_, let session), .refusing(_, let session): session
        case .idle, .dialling, .securing, .handshaking, .refused, .over: nil
        }
    }
}
