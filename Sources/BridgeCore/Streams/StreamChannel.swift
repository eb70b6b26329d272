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

/// Who has the bytes of a stream; told by the HTTP server, on the loop.
@MainActor package protocol StreamSource: AnyObject {
    /// Asked for at most so many bytes of a pulled stream.
    func pull(_ count: Int) -> StreamPull
    /// The server gave the connection up by itself: nothing may be written any more.
    func channelIsGone()
}

/// An HTTP answer without end, whose head is out: what the HTTP server gives to whoever writes its body.
///
/// Used on the loop alone.
@MainActor package protocol StreamChannel: AnyObject {
    var delivery: StreamDelivery { get }
    /// The connection's socket, which the server closes after `end()`.
    var descriptor: Int32 { get }
    /// Names who has the bytes, who must be kept by somebody else.
    func attach(_ source: any StreamSource)
    /// Lets the server ask a pulled stream for bytes again.
    func wake()
    /// Closes the connection after everything that was written; the owner must not write any more.
    func end()
}
