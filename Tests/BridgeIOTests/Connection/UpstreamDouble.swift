import BridgeIO
import Testing
import WebSocketProtocol

/// A small WebSocket server on the loop, whose every peer can be told to misbehave.
@MainActor final class UpstreamDouble {
    /// One accepted connection.
    @MainActor final class Peer {
        /// Everything but pings that are answered.
        private(set) var events: [FrameEvent] = []
        private(set) var isOpen = false
        private(set) var isOver = false
        var answersPings: Bool
        private var answersHandshake: Bool
        private var stream: SocketStream?
        private var handshake = ServerHandshake()
        private var decoder = FrameDecoder(role: .server, maximumMessageBytes: 1 << 26)
        private var encoder = FrameEncoder(role: .server)
        private var random = SystemRandomNumberGenerator()

        fileprivate init(_ stream: SocketStream, answersPings: Bool, answersHandshake: Bool) {
            self.stream = stream
            self.answersPings = answersPings
            self.answersHandshake = answersHandshake
            stream.onReceive = { [weak self] in self?.received($0) }
            stream.onEnd = { [weak self] _ in self?.isOver = true }
            stream.startReading()
        }

        var texts: [String] {
            events.compactMap {
                guard case .message(let message) = $0 else { return nil }
                return String(decoding: message.bytes, as: UTF8.self)
            }
        }

        func send(_ text: String) {
            write { encoder, output, random in
                encoder.append(Message(.text, Array(text.utf8)), to: &output, random: &random)
            }
        }

        func close(_ code: UInt16?) {
            write { encoder, output, random in encoder.appendClose(code: code, to: &output, random: &random) }
        }

        /// Writes bytes that need not be a frame.
        func write(_ bytes: [UInt8]) {
            _ = stream?.write(bytes)
        }

        /// Closes the socket without a word.
        func drop() { stream = nil }

        func stopReading() { stream?.stopReading() }

        func startReading() { stream?.startReading() }

        /// Reads once what the kernel gives at a time, and stops.
        func sip() {
            isSipping = true
            stream?.startReading()
        }

        private var isSipping = false

        private func write(
            _ encode: (inout FrameEncoder, inout [UInt8], inout SystemRandomNumberGenerator) -> Void
        ) {
            var output: [UInt8] = []
            encode(&encoder, &output, &random)
            write(output)
        }

        private func received(_ bytes: Span<UInt8>) {
            if isSipping { stopReading() }
            isSipping = false
            var offset = 0
            do {
                if !isOpen {
                    guard let request = try handshake.read(bytes, from: &offset), answersHandshake else {
                        return
                    }
                    isOpen = true
                    write(ServerHandshake.response(accept: Digests.accept(for: request.key)))
                }
                while let event = try decoder.next(in: bytes, from: &offset) { received(event) }
            } catch {
                Issue.record(error)
            }
        }

        private func received(_ event: FrameEvent) {
            guard case .ping(let payload) = event, answersPings else { return events.append(event) }
            write { encoder, output, random in encoder.appendPong(payload, to: &output, random: &random) }
        }
    }

    private(set) var peers: [Peer] = []
    /// For peers to come.
    var answersPings = true
    /// For peers to come.
    var answersHandshake = true
    private var listener: TCPListener?

    init(loop: Loop) throws {
        let any = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
        listener = try TCPListener(loop: loop, address: any) { [weak self] stream in
            guard let self else { return }
            peers.append(Peer(stream, answersPings: answersPings, answersHandshake: answersHandshake))
        }
    }

    var port: UInt16 { listener?.address?.port ?? 0 }

    /// Refuses connections from now on.
    func stopListening() { listener = nil }
}
