internal import BridgeIO
internal import WebSocketProtocol

/// One connection to the demo's upstream, from its acceptance to its end.
///
/// Holds at most one incoming message, and as much outgoing as one reading of the socket gives rise to: while
/// the client does not take that, nothing more is read from it and it gets no ticks.
final class DemoClient {
    private enum Phase {
        /// Becomes open or ending.
        case handshaking
        /// Becomes ending.
        case open
        /// Our last byte is written; what comes is discarded until the client hangs up as well.
        case ending
    }

    private let loop: Loop
    private let stream: SocketStream
    private let settings: DemoUpstream.Settings
    private let onGone: (DemoClient) -> Void
    private var phase = Phase.handshaking
    /// Ends the wait for a handshake, or for the client to hang up.
    private var deadline: LoopTimer?
    private var firstByte: UInt8?
    private var handshake = ServerHandshake()
    private var decoder: FrameDecoder
    private var encoder = FrameEncoder(role: .server)
    private var output: [UInt8] = []
    /// Whether the kernel has yet to take a part of what was written.
    private var isBlocked = false

    /// Serves what was accepted; `onGone` is called once, at the end, and lets go of the client.
    init(
        loop: Loop,
        stream: SocketStream,
        settings: DemoUpstream.Settings,
        onGone: @escaping (DemoClient) -> Void
    ) {
        self.loop = loop
        self.stream = stream
        self.settings = settings
        self.onGone = onGone
        decoder = FrameDecoder(role: .server, maximumMessageBytes: settings.maximumMessageBytes)
        stream.onReceive = { [weak self] in self?.received($0) }
        stream.onDrain = { [weak self] in self?.drained() }
        stream.onEnd = { [weak self] _ in self?.hangUp() }
        stream.disableDelay()
        stream.startReading()
        startDeadline()
    }

    /// Sends the message if the client is open and keeps up.
    func tick(_ message: Message) {
        guard phase == .open, !isBlocked else { return }
        append(message)
        flush()
    }

    // MARK: Receiving

    private func received(_ bytes: Span<UInt8>) {
        var offset = 0
        if phase == .handshaking { shakeHands(bytes, &offset) }
        // What follows the handshake's head are the client's first frames.
        readFrames(bytes, &offset)
        flush()
    }

    private func shakeHands(_ bytes: Span<UInt8>, _ offset: inout Int) {
        firstByte = firstByte ?? (bytes.isEmpty ? nil : bytes[0])
        do throws(HandshakeFailure) {
            guard let request = try handshake.read(bytes, from: &offset) else { return }
            phase = .open
            deadline = nil
            output += ServerHandshake.response(
                accept: Digests.accept(for: request.key),
                subprotocol: request.subprotocols.first
            )
        } catch {
            output += HandshakeRefusal(error, firstByte: firstByte).response
            end()
        }
    }

    private func readFrames(_ bytes: Span<UInt8>, _ offset: inout Int) {
        do throws(WebSocketFailure) {
            while phase == .open, let event = try decoder.next(in: bytes, from: &offset) { answer(event) }
        } catch {
            close(error.code, error.reason)
        }
    }

    private func answer(_ event: FrameEvent) {
        switch event {
        case .message(let message):
            append(message)
        case .ping(let payload):
            // A server draws nothing from the generator: it sends without masks.
            var random = SystemRandomNumberGenerator()
            encoder.appendPong(payload, to: &output, random: &random)
        case .pong:
            break
        case .close(let code, _):
            close(code, "")
        }
    }

    // MARK: Sending

    private func append(_ message: Message) {
        var random = SystemRandomNumberGenerator()
        encoder.append(message, to: &output, random: &random)
    }

    private func flush() {
        guard !output.isEmpty else { return }
        if !stream.write(output) {
            isBlocked = true
            // A client that ends may hang up with more on its way: only reading shows that.
            if phase == .open { stream.stopReading() }
        }
        output = []
    }

    private func drained() {
        isBlocked = false
        stream.startReading()
    }

    // MARK: Ending

    private func close(_ code: UInt16?, _ reason: String) {
        var random = SystemRandomNumberGenerator()
        encoder.appendClose(code: code, reason: reason, to: &output, random: &random)
        end()
    }

    /// Sends what is due and the end; closing at once would discard it if the client still sends.
    private func end() {
        phase = .ending
        flush()
        stream.shutdownWriting()
        startDeadline()
    }

    private func startDeadline() {
        deadline = loop.startTimer(after: settings.patience) { [weak self] in self?.hangUp() }
    }

    private func hangUp() {
        deadline = nil
        onGone(self)
    }
}
