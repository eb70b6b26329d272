internal import BridgeCore

/// The bytes to and from an upstream, or a proxy: those of a channel, with TLS on it if there is a session.
///
/// Set the closures before `start`. `onEnd` is the last one called; after `close` none is.
final class UpstreamTransport: ByteChannel {
    /// Bytes may be written: at once without TLS, else after its handshake.
    var onReady: () -> Void = {}
    /// What came in, lent for the duration of the call.
    var onReceive: (Span<UInt8>) -> Void = { _ in }
    /// The network took all that `write` left over.
    var onDrain: () -> Void = {}
    /// Nothing comes any more: an orderly end (nil), or what went wrong.
    var onEnd: (String?) -> Void = { _ in }

    /// Bytes that the network brought, those of TLS included.
    private(set) var receivedBytes: UInt64 = 0
    /// It was TLS that went wrong, be it after its handshake, as when the peer refuses our certificate.
    private(set) var isRefusedByTLS = false

    private let channel: any ByteChannel
    private let tls: TLSSession?
    private var isSecured: Bool
    private var isOver = false
    /// What TLS has said by itself, such as answers to requests for new keys, while bytes waited for the network.
    private var unaskedBytes = 0
    /// That many answers are more than two thousand new keys.
    private static let mostUnaskedBytes = 64 * 1024

    init(_ channel: any ByteChannel, tls: TLSSession?) {
        self.channel = channel
        self.tls = tls
        isSecured = tls == nil
    }

    /// Begins to read, and to shake hands over TLS; `early` is what the channel brought before.
    func start(early: [UInt8] = []) {
        // Unowned: the channel is ours alone and calls nothing once it is let go of.
        channel.onReceive = { [unowned self] in received($0) }
        channel.onEnd = { [unowned self] in streamEnded($0) }
        channel.onDrain = { [unowned self] in drained() }
        channel.startReading()
        if tls == nil { onReady() } else { secure() }
        if !early.isEmpty { received(early.span) }
    }

    var path: SocketPath? { channel.path }

    func stopReading() { channel.stopReading() }

    func startReading() { channel.startReading() }

    /// The version of TLS that is spoken; nil without TLS, and before its handshake is complete.
    var tlsVersion: String? { isSecured ? tls?.version : nil }

    /// Bytes that `write` took and the network did not take yet.
    var unwrittenBytes: Int { channel.unwrittenBytes }

    /// Writes all of `bytes` at once; false means that some wait for `onDrain`.
    func write(_ bytes: [UInt8]) -> Bool {
        guard let tls else { return channel.write(bytes) }
        do throws(TLSFailure) {
            try tls.write(bytes)
        } catch {
            // The session is broken: what broke it shows when it is read next.
            return false
        }
        return channel.write(tls.takeOutput())
    }

    /// Says goodbye over TLS and reports nothing more; the connection closes when this object goes.
    func close() {
        guard !isOver else { return }
        isOver = true
        if let tls, isSecured {
            tls.close()
            writeTLSOutput()
        }
        channel.close()
    }

    // MARK: Reading

    private func received(_ bytes: Span<UInt8>) {
        guard !isOver else { return }
        receivedBytes &+= UInt64(bytes.count)
        guard let tls else { return onReceive(bytes) }
        tls.receive(bytes)
        guard isSecured || secure() else { return }
        let end = tls.read { [self] piece in
            onReceive(piece)
            return !isOver
        }
        // The peer's goodbye is answered by ours (RFC 8446 §6.1): nothing would be sent once this is over.
        if end == .closed { tls.close() }
        writeTLSOutput()
        switch end {
        case .needsMore where unaskedBytes > UpstreamTransport.mostUnaskedBytes:
            finish("TLS: new keys are asked for over and over, and no answer is taken")
        case .needsMore: break
        case .closed: finish(nil)
        case .failed(let failure):
            isRefusedByTLS = true
            finish(failure.error)
        }
    }

    /// Goes on with the TLS handshake; true once it is complete.
    @discardableResult private func secure() -> Bool {
        guard let tls else { return true }
        do throws(TLSFailure) {
            isSecured = try tls.handshake()
        } catch {
            // The alert tells the peer why.
            writeTLSOutput()
            finish(error.error)
            return false
        }
        writeTLSOutput()
        if isSecured { onReady() }
        return isSecured && !isOver
    }

    private func writeTLSOutput() {
        guard let output = tls?.takeOutput(), !output.isEmpty else { return }
        if !channel.write(output) { unaskedBytes += output.count }
    }

    private func drained() {
        unaskedBytes = 0
        if !isOver { onDrain() }
    }

    private func streamEnded(_ error: String?) {
        if error == nil, tls != nil, isSecured {
            // Anyone on the way can end a TCP connection: only close_notify is the peer's own word.
            finish("the TLS connection was cut off without close_notify")
        } else {
            finish(error)
        }
    }

    private func finish(_ error: String?) {
        guard !isOver else { return }
        isOver = true
        onEnd(error)
    }
}
