/// One complete text or binary WebSocket message (RFC 6455 §5.6).
package struct Message: Equatable, Sendable {
    /// Which of the two data opcodes carried it.
    package enum Kind: Equatable, Sendable {
        case text
        case binary
    }

    package var kind: Kind
    /// The payload; for text the bytes are valid UTF-8, which whoever makes the value has checked.
    package var bytes: [UInt8]

    package init(_ kind: Kind, _ bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }
}
