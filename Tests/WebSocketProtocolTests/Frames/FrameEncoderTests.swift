import Testing
import WebSocketProtocol
import WebSocketTestSupport

@Suite struct `Frame encoder` {
    /// The key of RFC 6455 §5.7, 37 FA 21 3D on the wire.
    private static let key: UInt64 = 0x3D21_FA37

    private func encoded(
        _ role: Role,
        deflater: (any MessageDeflater)? = nil,
        _ body: (inout FrameEncoder, inout [UInt8], inout ConstantGenerator) -> Void
    ) -> [UInt8] {
        var encoder = FrameEncoder(role: role, deflater: deflater)
        var output: [UInt8] = []
        var random = ConstantGenerator(Self.key)
        body(&encoder, &output, &random)
        return output
    }

    @Test func `a client masks as RFC 6455 5.7 shows`() {
        let bytes = encoded(.client) { encoder, output, random in
            encoder.append(Message(.text, Array("Hello".utf8)), to: &output, random: &random)
        }
        #expect(bytes == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
    }

    @Test func `a server does not mask`() {
        let bytes = encoded(.server) { encoder, output, random in
            encoder.append(Message(.text, Array("Hello".utf8)), to: &output, random: &random)
            encoder.appendPing([1], to: &output, random: &random)
        }
        #expect(bytes == [0x81, 0x05] + "Hello".utf8 + [0x89, 0x01, 0x01])
    }

    @Test(arguments: [0, 1, 7, 8, 9, 15, 125, 126, 65535, 65536, 70_001])
    func `what a client sends, a server reads`(length: Int) {
        let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        var random = SeededGenerator(seed: UInt64(length))
        var encoder = FrameEncoder(role: .client)
        var output: [UInt8] = []
        for _ in 0..<2 { encoder.append(Message(.binary, payload), to: &output, random: &random) }
        let expected = FrameEvent.message(Message(.binary, payload))
        #expect(decode(output, role: .server).events == [expected, expected])
    }

    @Test func `each frame draws its own mask`() {
        var random = SeededGenerator(seed: 1)
        var encoder = FrameEncoder(role: .client)
        var output: [UInt8] = []
        for _ in 0..<2 { encoder.append(Message(.text, []), to: &output, random: &random) }
        #expect(output[2..<6] != output[8..<12])
    }

    @Test func `control frames carry at most 125 bytes`() {
        let payload = (0..<200).map { UInt8($0) }
        let bytes = encoded(.server) { encoder, output, random in
            encoder.appendPing(payload, to: &output, random: &random)
            encoder.appendPong(payload, to: &output, random: &random)
        }
        let kept = Array(payload.prefix(125))
        #expect(decode(bytes).events == [.ping(kept), .pong(kept)])
    }

    @Test func `a close frame has a code or nothing`() {
        let with = encoded(.server) { encoder, output, random in
            encoder.appendClose(code: 1001, reason: "away", to: &output, random: &random)
        }
        #expect(with == [0x88, 6, 0x03, 0xE9] + "away".utf8)
        let without = encoded(.client) { encoder, output, random in
            encoder.appendClose(code: nil, to: &output, random: &random)
        }
        #expect(without == [0x88, 0x80, 0x37, 0xFA, 0x21, 0x3D])
    }

    @Test func `only messages are compressed, and only those that the deflater takes`() {
        let bytes = encoded(.server, deflater: Doubling()) { encoder, output, random in
            encoder.append(Message(.text, Array("aabbcc".utf8)), to: &output, random: &random)
            encoder.append(Message(.text, Array("abc".utf8)), to: &output, random: &random)
            encoder.appendPing(Array("aa".utf8), to: &output, random: &random)
        }
        let expected = rawFrame(0xC1, text: "abc") + rawFrame(0x81, text: "abc") + rawFrame(0x89, text: "aa")
        #expect(bytes == expected)
    }
}
