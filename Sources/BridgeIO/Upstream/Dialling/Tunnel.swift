internal import BridgeCore

/// A connection to a proxy while it is talked into becoming one to the upstream.
final class Tunnel {
    typealias Outcome = Result<UpstreamDial.Arrival, ProxyRefusal>

    private let channel: any ByteChannel
    /// The same, if there is TLS.
    private let transport: UpstreamTransport?
    private var conversation: ProxyConversation
    private var completion: (Outcome) -> Void = { _ in }

    init(_ stream: SocketStream, tls: TLSSession?, proxy: ProxyURL, to destination: Destination) {
        transport = tls.map { UpstreamTransport(stream, tls: $0) }
        channel = transport ?? stream
        conversation = ProxyConversation(with: proxy, to: destination)
    }

    /// Begins; `completion` is called once, perhaps at once.
    ///
    /// With success it has the channel, and no other may read it from then on.
    func start(_ completion: @escaping (Outcome) -> Void) {
        self.completion = completion
        // Unowned: a channel that was let go of calls nothing.
        channel.onReceive = { [unowned self] in received($0) }
        channel.onEnd = { [unowned self] in ended($0) }
        if let transport {
            transport.onReady = { [unowned self] in open() }
            transport.start()
        } else {
            channel.startReading()
            open()
        }
    }

    private func open() {
        _ = channel.write(conversation.opening)
    }

    private func received(_ bytes: Span<UInt8>) {
        var offset = 0
        do throws(ProxyRefusal) {
            while true {
                switch try conversation.read(bytes, from: &offset) {
                case .waiting: return
                case .say(let words): _ = channel.write(words)
                case .established:
                    let early = unsafe bytes.extracting(offset...).withUnsafeBufferPointer {
                        unsafe Array($0)
                    }
                    return completion(.success(UpstreamDial.Arrival(channel: channel, early: early)))
                }
            }
        } catch {
            finish(error)
        }
    }

    private func ended(_ error: String?) {
        finish(
            ProxyRefusal(
                error.map { "broke the connection: \($0)" } ?? "closed the connection without an answer"
            )
        )
    }

    private func finish(_ refusal: ProxyRefusal) {
        channel.close()
        completion(.failure(refusal))
    }
}
