/// The meaning of a frame (RFC 6455 §5.2); all other values are reserved.
package enum Opcode: UInt8, Equatable, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Control frames are whole, short and may stand between the fragments of a message (§5.5).
    package var isControl: Bool { rawValue & 0x8 != 0 }
}
