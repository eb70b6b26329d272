/// Turns messages and control frames into bytes (RFC 6455 §5.2): every message is one frame.
package struct FrameEncoder {
    private let role: Role
    private let deflater: (any MessageDeflater)?
    /// The most bytes before a payload: two, eight of length, four of mask.
    private static let maximumHeadBytes = 14

    /// Makes an encoder; the `deflater` is there when permessage-deflate was agreed.
    package init(role: Role, deflater: (any MessageDeflater)? = nil) {
        self.role = role
        self.deflater = deflater
    }

    /// Appends a message to `output`.
    ///
    /// `random` must be unpredictable to the peer (§10.3); a server draws nothing from it.
    package mutating func append(
        _ message: Message,
        to output: inout [UInt8],
        random: inout some RandomNumberGenerator
    ) {
        let opcode: Opcode = message.kind == .text ? .text : .binary
        var compressed: [UInt8] = []
        if deflater?.deflate(message.bytes.span, into: &compressed) == true {
            frame(opcode, compressed: true, compressed, to: &output, random: &random)
        } else {
            frame(opcode, compressed: false, message.bytes, to: &output, random: &random)
        }
    }

    /// Appends a ping; of a longer payload only the first 125 bytes go out.
    package func appendPing(
        _ payload: [UInt8],
        to output: inout [UInt8],
        random: inout some RandomNumberGenerator
    ) {
        frame(.ping, compressed: false, Array(payload.prefix(125)), to: &output, random: &random)
    }

    /// Appends a pong; of a longer payload only the first 125 bytes go out.
    package func appendPong(
        _ payload: [UInt8],
        to output: inout [UInt8],
        random: inout some RandomNumberGenerator
    ) {
        frame(.pong, compressed: false, Array(payload.prefix(125)), to: &output, random: &random)
    }

    /// Appends a close frame: without a code if there is none or it must never be sent (`CloseCode`).
    package func appendClose(
        code: UInt16?,
        reason: String = "",
        to output: inout [UInt8],
        random: inout some RandomNumberGenerator
    ) {
        let payload = CloseCode.payload(code: code, reason: reason)
        frame(.close, compressed: false, payload, to: &output, random: &random)
    }

    private func frame(
        _ opcode: Opcode,
        compressed: Bool,
        _ payload: [UInt8],
        to output: inout [UInt8],
        random: inout some RandomNumberGenerator
    ) {
        // An exact reservation for every frame would copy the whole buffer for each; doubling is append's work.
        if output.isEmpty { output.reserveCapacity(payload.count + FrameEncoder.maximumHeadBytes) }
        output.append(0x80 | (compressed ? 0x40 : 0) | opcode.rawValue)
        appendLength(payload.count, to: &output)
        guard role == .client else { return output.append(contentsOf: payload) }
        let key = MaskKey(bits: UInt32(truncatingIfNeeded: random.next()))
        for shift in stride(from: UInt32(0), to: 32, by: 8) {
            output.append(UInt8(truncatingIfNeeded: key.bits >> shift))
        }
        key.append(payload.span, to: &output)
    }

    /// §5.2: seven bits, or 126 and two bytes, or 127 and eight.
    private func appendLength(_ count: Int, to output: inout [UInt8]) {
        let mask: UInt8 = role == .client ? 0x80 : 0
        guard count >= 126 else { return output.append(mask | UInt8(truncatingIfNeeded: count)) }
        let isShort = count < 65536
        output.append(mask | (isShort ? 126 : 127))
        for shift in stride(from: isShort ? 8 : 56, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: count >> shift))
        }
    }
}
