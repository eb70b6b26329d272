/// Inflates the messages that the peer deflated (RFC 7692 §7.2.2).
///
/// The protocol's port to a deflate library; one per connection and direction, since it carries the window
/// from message to message.
package protocol MessageInflater: AnyObject {
    /// Appends to `message` what the next bytes of it inflate to.
    ///
    /// Throws 1009 as soon as `message` would exceed `limit` bytes, before more is inflated, and 1007 for
    /// data that is not deflate.
    func inflate(
        _ input: Span<UInt8>,
        into message: inout [UInt8],
        limit: Int
    ) throws(WebSocketFailure)

    /// Ends the message: inflates what was held back and prepares for the next one.
    func finishMessage(into message: inout [UInt8], limit: Int) throws(WebSocketFailure)
}

/// Deflates the messages that we send (RFC 7692 §7.2.1).
package protocol MessageDeflater: AnyObject {
    /// Appends one whole message, deflated and without the final empty block, to `output`.
    ///
    /// False means that nothing was appended and the message is to be sent as it is.
    func deflate(_ message: Span<UInt8>, into output: inout [UInt8]) -> Bool
}
