/// What stands before a frame's payload (RFC 6455 §5.2).
struct FrameHead: Equatable, Sendable {
    var opcode: Opcode = .continuation
    var isFinal = false
    /// RSV1: on the first frame of a message it says that the message is compressed (RFC 7692 §6).
    var isCompressed = false
    /// Payload bytes; the top bit is known to be clear.
    var length = 0
    /// Nil on frames of a server.
    var key: MaskKey?
}

/// Reads heads byte by byte and refuses each at the first byte that shows what is wrong.
struct FrameHeadReader: Sendable {
    private enum Field {
        case opcode
        case length
        case extendedLength(missing: Int, shortest: UInt64)
        case maskKey(missing: Int)
    }

    /// Who reads: the other one's frames are expected.
    let role: Role
    /// Whether permessage-deflate was agreed.
    let allowsCompression: Bool

    private var next: Field = .opcode
    private var head = FrameHead()
    private var length: UInt64 = 0
    private var key: UInt32 = 0

    init(role: Role, allowsCompression: Bool) {
        self.role = role
        self.allowsCompression = allowsCompression
    }

    /// Takes one byte; gives the head once it is complete and then starts anew.
    ///
    /// `isMessageOpen` says whether the last data frame was not the end of its message.
    mutating func read(_ byte: UInt8, isMessageOpen: Bool) throws(WebSocketFailure) -> FrameHead? {
        switch next {
        case .opcode:
            try readOpcode(byte, isMessageOpen: isMessageOpen)
            next = .length
            return nil
        case .length:
            return try readLength(byte)
        case .extendedLength(let missing, let shortest):
            length = length << 8 | UInt64(byte)
            guard missing == 1 else {
                next = .extendedLength(missing: missing - 1, shortest: shortest)
                return nil
            }
            // §5.2: the shortest form that holds it, and the top bit clear.
            guard length >= shortest, length >> 63 == 0 else { throw .invalidLength }
            return endLength()
        case .maskKey(let missing):
            key = key >> 8 | UInt32(byte) << 24
            guard missing == 1 else {
                next = .maskKey(missing: missing - 1)
                return nil
            }
            head.key = MaskKey(bits: key)
            return endHead()
        }
    }

    private mutating func readOpcode(_ byte: UInt8, isMessageOpen: Bool) throws(WebSocketFailure) {
        guard byte & 0x30 == 0 else { throw .reservedBits }
        guard let opcode = Opcode(rawValue: byte & 0x0F) else { throw .unknownOpcode }
        head = FrameHead(opcode: opcode, isFinal: byte & 0x80 != 0, isCompressed: byte & 0x40 != 0)
        switch opcode {
        case .text, .binary:
            guard !head.isCompressed || allowsCompression else { throw .reservedBits }
            guard !isMessageOpen else { throw .unfinishedMessage }
        case .continuation:
            guard !head.isCompressed else { throw .reservedBits }
            guard isMessageOpen else { throw .strayContinuation }
        case .close, .ping, .pong:
            guard !head.isCompressed else { throw .reservedBits }
            guard head.isFinal else { throw .fragmentedControl }
        }
    }

    private mutating func readLength(_ byte: UInt8) throws(WebSocketFailure) -> FrameHead? {
        let isMasked = byte & 0x80 != 0
        guard isMasked == (role == .server) else { throw isMasked ? .masked : .unmasked }
        length = UInt64(byte & 0x7F)
        guard !head.opcode.isControl || length <= 125 else { throw .longControl }
        switch length {
        case 126:
            length = 0
            next = .extendedLength(missing: 2, shortest: 126)
            return nil
        case 127:
            length = 0
            next = .extendedLength(missing: 8, shortest: 65536)
            return nil
        default:
            return endLength()
        }
    }

    private mutating func endLength() -> FrameHead? {
        head.length = Int(length)
        guard role == .server else { return endHead() }
        next = .maskKey(missing: 4)
        return nil
    }

    private mutating func endHead() -> FrameHead {
        next = .opcode
        return head
    }
}
