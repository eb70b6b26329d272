/// How the bytes of a stream reach its client.
package enum StreamDelivery: Equatable, Sendable {
    /// The owner writes on the descriptor itself, chunk framing included.
    case direct
    /// The HTTP server asks for bytes, without framing, whenever the client can take some.
    case pulled
}

/// What the owner of a pulled stream has for its client.
package enum StreamPull: Equatable, Sendable {
    case bytes(ArraySlice<UInt8>)
    /// Nothing now: `wake()` when there is something.
    case nothing
    /// Nothing ever after.
    case end
    /// The connection is to be closed in a way that shows that something is missing.
    case abort
}

/// An HTTP answer without end, whose head is out: what the HTTP server gives to whoever writes its body.
///
/// Used on the loop alone.
@MainActor package protocol StreamChannel: AnyObject {
    var delivery: StreamDelivery { get }
    /// The connection's socket, which the server owns and closes after `end()`.
    var descriptor: Int32 { get }
    /// Asked for at most so many bytes of a pulled stream.
    var onPull: (Int) -> StreamPull { get set }
    /// Told once, when the server gave the connection up: nothing may be written any more.
    var onGone: () -> Void { get set }
    /// Lets the server ask a pulled stream for bytes again.
    func wake()
    /// Closes the connection after everything that was written; the owner must not write any more.
    func end()
}
