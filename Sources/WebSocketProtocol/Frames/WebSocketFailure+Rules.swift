// The rules a peer can break, each with the close code that RFC 6455 §7.4.1 has for it.
extension WebSocketFailure {
    static let reservedBits = WebSocketFailure(CloseCode.protocolError, "reserved bit set")
    static let unknownOpcode = WebSocketFailure(CloseCode.protocolError, "unknown opcode")
    static let masked = WebSocketFailure(CloseCode.protocolError, "masked frame from a server")
    static let unmasked = WebSocketFailure(CloseCode.protocolError, "unmasked frame from a client")
    static let invalidLength = WebSocketFailure(CloseCode.protocolError, "invalid frame length")
    static let longControl = WebSocketFailure(CloseCode.protocolError, "control frame over 125 bytes")
    static let fragmentedControl = WebSocketFailure(CloseCode.protocolError, "fragmented control frame")
    static let unfinishedMessage = WebSocketFailure(
        CloseCode.protocolError,
        "new message within a fragmented one"
    )
    static let strayContinuation = WebSocketFailure(CloseCode.protocolError, "continuation without a message")
    static let closePayload = WebSocketFailure(CloseCode.protocolError, "close frame with half a code")
    static let closeCode = WebSocketFailure(CloseCode.protocolError, "invalid close code")
    static let notUTF8 = WebSocketFailure(CloseCode.invalidData, "text is not UTF-8")
    static let tooBig = WebSocketFailure(CloseCode.tooBig, "message too big")
}

extension WebSocketFailure {
    /// For inflaters: the bytes are not a deflate stream.
    package static let notDeflate = WebSocketFailure(CloseCode.invalidData, "invalid compressed data")
    /// For inflaters: the message would exceed the limit.
    package static let inflatedTooBig = WebSocketFailure(CloseCode.tooBig, "message too big when inflated")
}
