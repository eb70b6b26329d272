import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// Autobahn's families 1 (framing), 9 and 10 (large and fragmented messages), and RFC 6455 §5.7.
@Suite struct `Framing` {
    @Test func `the examples of RFC 6455 5.7 decode to what it says`() {
        let hello = FrameEvent.message(Message(.text, Array("Hello".utf8)))
        #expect(decode([0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]).events == [hello])
        let masked: [UInt8] = [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        #expect(decode(masked, role: .server).events == [hello])
        let fragments: [UInt8] = [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F]
        #expect(decode(fragments).events == [hello])
        #expect(decode([0x89, 0x05] + "Hello".utf8).events == [.ping(Array("Hello".utf8))])
        let maskedPong: [UInt8] = [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        #expect(decode(maskedPong, role: .server).events == [.pong(Array("Hello".utf8))])
        let short = [UInt8](repeating: 1, count: 256)
        #expect(decode([0x82, 0x7E, 0x01, 0x00] + short).events == [.message(Message(.binary, short))])
        let long = [UInt8](repeating: 2, count: 65536)
        let head: [UInt8] = [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0]
        #expect(decode(head + long).events == [.message(Message(.binary, long))])
    }

    @Test(arguments: [0, 1, 125, 126, 127, 128, 65535, 65536, 70_000], [1, 3, 997, 1 << 20])
    func `a message of any length arrives whole, however it is cut`(length: Int, piece: Int) {
        let binary = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let text = [UInt8](repeating: UInt8(ascii: "*"), count: length)
        let decoded = decode(rawFrame(0x82, binary) + rawFrame(0x81, text), pieces: piece)
        #expect(decoded.events == [.message(Message(.binary, binary)), .message(Message(.text, text))])
        #expect(decoded.failure == nil)
    }

    @Test(arguments: [1, 64, 256, 1300, 65536])
    func `a message in fragments of any size is joined`(fragment: Int) {
        let payload = [UInt8](repeating: UInt8(ascii: "*"), count: 65536)
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: payload.count, by: fragment) {
            let part = payload[start..<min(start + fragment, payload.count)]
            let first: UInt8 = start == 0 ? 0x01 : 0x00
            bytes += rawFrame(first | (part.endIndex == payload.count ? 0x80 : 0), Array(part))
        }
        #expect(decode(bytes).events == [.message(Message(.text, payload))])
    }

    @Test(
        arguments: [
            // 16 bits for what seven hold, 64 bits for what 16 hold, and the top bit.
            [0x82, 126, 0, 125], [0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
            [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0],
            [0x82, 127, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        ] as [[UInt8]]
    )
    func `a length that is not in its shortest form, or negative, is refused`(bytes: [UInt8]) {
        #expect(decode(bytes).failure == WebSocketFailure(1002, "invalid frame length"))
    }

    @Test func `a client refuses a masked frame at its second byte`() {
        let decoded = decode(rawFrame(0x81, text: "Hello", mask: 7), pieces: 1)
        #expect(decoded.failure == WebSocketFailure(1002, "masked frame from a server"))
        #expect(decoded.failedAfter == 2)
    }

    @Test func `a server refuses an unmasked frame at its second byte`() {
        let decoded = decode(rawFrame(0x81, text: "Hello"), pieces: 1, role: .server)
        #expect(decoded.failure == WebSocketFailure(1002, "unmasked frame from a client"))
        #expect(decoded.failedAfter == 2)
    }

    @Test(arguments: 1...9)
    func `a mask goes on over pieces of any size`(piece: Int) {
        let payload = (0..<100).map { UInt8($0) }
        let decoded = decode(rawFrame(0x82, payload, mask: 0x1234_5678), pieces: piece, role: .server)
        #expect(decoded.events == [.message(Message(.binary, payload))])
    }

    @Test func `a message at the limit passes and one byte more is refused before its payload`() {
        let atLimit = [UInt8](repeating: 1, count: 1000)
        #expect(decode(rawFrame(0x82, atLimit), limit: 1000).events == [.message(Message(.binary, atLimit))])
        let over = decode(Array(rawFrame(0x82, atLimit + [1]).prefix(4)), limit: 1000)
        #expect(over.failure == WebSocketFailure(1009, "message too big"))
    }

    @Test func `the limit counts all fragments`() {
        let part = [UInt8](repeating: 1, count: 400)
        let fragments = rawFrame(0x02, part) + rawFrame(0x00, part)
        #expect(decode(fragments + rawFrame(0x80, part.dropLast(200)), limit: 1000).failure == nil)
        #expect(decode(fragments + rawFrame(0x80, part), limit: 1000).failure?.code == 1009)
    }

    @Test func `a continuation that announces the largest length is refused, not added up`() {
        let hostile: [UInt8] = [0x80, 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
        let decoded = decode(rawFrame(0x01, text: "a") + hostile, limit: .max - 1)
        #expect(decoded.failure?.code == 1009)
    }

    @Test func `an announced length is not reserved before its bytes come`() {
        // 2^62 bytes: reserving them would end the process.
        let head: [UInt8] = [0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0]
        #expect(decode(head + [1, 2, 3], limit: .max) == Decoded())
    }

    @Test func `after a failure every call throws the same`() {
        var decoder = FrameDecoder(role: .client, maximumMessageBytes: 10)
        let wrong: [UInt8] = [0x83]
        let right = rawFrame(0x81, text: "a")
        let failure = WebSocketFailure(1002, "unknown opcode")
        for bytes in [wrong, right] {
            #expect(throws: failure) {
                var offset = 0
                _ = try decoder.next(in: bytes.span, from: &offset)
            }
        }
    }
}
