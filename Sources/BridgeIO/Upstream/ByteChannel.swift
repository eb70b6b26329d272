internal import BridgeCore

/// Bytes in both directions: a socket, or what is made of another channel by TLS.
///
/// Whoever sets the closures is told from then on. `onEnd` is the last one called; after `close` none is.
protocol ByteChannel: AnyObject {
    /// What came in, lent for the duration of the call.
    var onReceive: (Span<UInt8>) -> Void { get set }
    /// Nothing comes any more: an orderly end (nil), or what went wrong.
    var onEnd: (String?) -> Void { get set }
    /// All that `write` left over is out.
    var onDrain: () -> Void { get set }

    /// Bytes that `write` took and the network did not take yet.
    var unwrittenBytes: Int { get }

    /// Between which addresses the bytes go; nil unless it is over IP.
    var path: SocketPath? { get }

    func startReading()

    /// Leaves what comes to the kernel, so that the peer slows down.
    func stopReading()

    /// Writes all of `bytes` at once; false means that some wait for `onDrain`.
    func write(_ bytes: [UInt8]) -> Bool

    /// Says goodbye, if the channel has a word for it; the connection closes when the object goes.
    func close()
}

extension SocketStream: ByteChannel {
    func close() { stopReading() }
}
