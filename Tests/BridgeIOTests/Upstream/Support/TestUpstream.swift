import BridgeIO
import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// An upstream on loopback: accepts connections and runs one script for each.
///
/// Speaks with the server's role of the codec, which is tested on its own, or whatever bytes a test wants.
@MainActor final class TestUpstream {
    /// What an upstream does; by default it accepts and echoes.
    @MainActor struct Script {
        /// The answer to the handshake; nil: the right one.
        var answer: [UInt8]?
        /// Bytes sent together with the answer.
        var afterAnswer: [UInt8] = []
        var compresses = false
        var onOpen: (Peer) -> Void = { _ in }
        var onEvent: (Peer, FrameEvent) -> Void = { peer, event in
            switch event {
            case .message(let message): peer.send(message)
            case .ping, .pong: break
            case .close(let code, _):
                peer.sendClose(code: code)
                peer.finish()
            }
        }
    }

    private(set) var peers: [Peer] = []
    private var others: [SocketStream] = []
    private var listener: TCPListener?

    init(loop: Loop, tls: TLSServer.Settings? = nil, script: Script = Script()) throws {
        let address = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
        listener = try TCPListener(loop: loop, address: address) { [unowned self] stream in
            do {
                guard greeting.isEmpty else {
                    others.append(stream)
                    _ = stream.write(greeting)
                    return
                }
                peers.append(Peer(stream, tls: try tls.map { try TLSServer($0) }, script: script))
            } catch {
                Issue.record(error)
            }
        }
    }

    var port: UInt16 { listener?.address?.port ?? 0 }

    /// Sent to each client as soon as it connects, before anything it says is read.
    private var greeting: [UInt8] = []

    /// Makes this a server of some other protocol, which speaks first.
    func greets(with bytes: [UInt8]) {
        greeting = bytes
    }

    /// Closes all connections at once.
    func dropPeers() {
        peers.removeAll()
    }

    /// One accepted connection.
    @MainActor final class Peer {
        private(set) var request: ServerHandshake.Request?
        private(set) var received: [FrameEvent] = []
        private(set) var hasEnded = false
        let stream: SocketStream
        let tls: TLSServer?
        private let script: Script
        private var handshake = ServerHandshake()
        private var decoder: FrameDecoder?
        private var encoder = FrameEncoder(role: .server)
        private var random = SeededGenerator(seed: 1)

        init(_ stream: SocketStream, tls: TLSServer?, script: Script) {
            self.stream = stream
            self.tls = tls
            self.script = script
            stream.onReceive = { [unowned self] bytes in
                took(unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) })
            }
            stream.onEnd = { [unowned self] _ in hasEnded = true }
            stream.startReading()
        }

        func send(_ message: Message) {
            var bytes: [UInt8] = []
            encoder.append(message, to: &bytes, random: &random)
            sendRaw(bytes)
        }

        func sendClose(code: UInt16?) {
            var bytes: [UInt8] = []
            encoder.appendClose(code: code, to: &bytes, random: &random)
            sendRaw(bytes)
        }

        func sendRaw(_ bytes: [UInt8]) {
            tls?.encrypt(bytes)
            _ = stream.write(tls?.takeOutput() ?? bytes)
        }

        /// Ends the stream in an orderly way.
        func finish() {
            tls?.sendCloseNotify()
            if let tls { _ = stream.write(tls.takeOutput()) }
            cutOff()
        }

        /// Ends the TCP stream without a word of TLS.
        func cutOff() {
            stream.shutdownWriting()
        }

        private func took(_ bytes: [UInt8]) {
            let plain = tls?.receive(bytes) ?? bytes
            if let tls { _ = stream.write(tls.takeOutput()) }
            guard !plain.isEmpty else { return }
            do {
                try read(plain)
            } catch {
                Issue.record(error)
            }
        }

        private func read(_ bytes: [UInt8]) throws {
            var offset = 0
            if decoder == nil {
                guard let request = try handshake.read(bytes.span, from: &offset) else { return }
                self.request = request
                open(request)
            }
            while let event = try decoder?.next(in: bytes.span, from: &offset) {
                received.append(event)
                script.onEvent(self, event)
            }
        }

        private func open(_ request: ServerHandshake.Request) {
            let parameters = script.compresses ? request.compression?.accepted : nil
            encoder = FrameEncoder(role: .server, deflater: parameters?.deflater(for: .server))
            decoder = FrameDecoder(
                role: .server,
                maximumMessageBytes: 64 << 20,
                inflater: parameters?.inflater(for: .server)
            )
            let response = ServerHandshake.response(
                accept: Digests.accept(for: request.key),
                subprotocol: request.subprotocols.first,
                compression: parameters
            )
            sendRaw((script.answer ?? response) + script.afterAnswer)
            script.onOpen(self)
        }
    }
}
