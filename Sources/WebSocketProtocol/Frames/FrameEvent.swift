/// What the peer said, once it is complete.
package enum FrameEvent: Equatable, Sendable {
    case message(Message)
    /// To be answered with a pong of the same payload (RFC 6455 §5.5.2), which has at most 125 bytes.
    case ping([UInt8])
    case pong([UInt8])
    /// The last event: `code` is nil when the frame carried none (§7.1.5).
    case close(code: UInt16?, reason: String)
}
