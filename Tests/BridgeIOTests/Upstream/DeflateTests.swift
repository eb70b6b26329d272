import BridgeIO
import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// permessage-deflate with the real zlib: Autobahn's families 12 and 13, RFC 7692 §7.2.3, and bombs.
@Suite struct `Compression` {
    static let windows = [9, 10, 12, 15]

    /// A server's frames for these messages.
    private func frames(_ messages: [Message], _ parameters: DeflateParameters) -> [UInt8] {
        var random = SeededGenerator(seed: 1)
        var encoder = FrameEncoder(role: .server, deflater: parameters.deflater(for: .server))
        var output: [UInt8] = []
        for message in messages { encoder.append(message, to: &output, random: &random) }
        return output
    }

    private func decoded(
        _ bytes: [UInt8],
        _ parameters: DeflateParameters = DeflateParameters(),
        pieces: Int = 1 << 20,
        limit: Int = 1 << 20
    ) -> Decoded {
        decode(bytes, pieces: pieces, limit: limit, inflater: parameters.inflater(for: .client))
    }

    private static func sentence(_ bytes: Int) -> [UInt8] {
        let text = #"{"event":"tick","price":1234.5,"symbol":"abc-xyz"},"#
        return Array(String(repeating: text, count: bytes / text.utf8.count + 1).utf8.prefix(bytes))
    }

    @Test(arguments: [0, 1, 16, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 131_072], [false, true])
    func `messages of any length survive, with and without context takeover`(length: Int, fresh: Bool) {
        let messages = [
            Message(.text, Self.sentence(length)),
            Message(.binary, (0..<length).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }),
            Message(.text, Self.sentence(length)),
        ]
        let parameters = DeflateParameters.agreed(serverFresh: fresh)
        let bytes = frames(messages, parameters)
        #expect(decoded(bytes, parameters).events == messages.map { .message($0) })
        #expect(decoded(bytes, parameters, pieces: 997).events == messages.map { .message($0) })
    }

    @Test(arguments: windows, windows)
    func `a client's messages survive any window`(bits: Int, fresh: Int) {
        let parameters = DeflateParameters.agreed(client: bits, clientFresh: fresh == 9)
        let messages = (0..<5).map { Message(.text, Self.sentence(3000 + $0)) }
        var random = SeededGenerator(seed: 7)
        var encoder = FrameEncoder(role: .client, deflater: parameters.deflater(for: .client))
        var output: [UInt8] = []
        for message in messages { encoder.append(message, to: &output, random: &random) }
        #expect(output.count < 3000)
        let decoded = decode(output, role: .server, inflater: parameters.inflater(for: .server))
        #expect(decoded.events == messages.map { .message($0) })
    }

    @Test func `context takeover makes repeated messages smaller, its lack does not`() {
        let message = Message(.text, Self.sentence(200))
        let once = frames([message], DeflateParameters.agreed()).count
        let kept = frames([message, message], DeflateParameters.agreed()).count - once
        let fresh = frames([message, message], DeflateParameters.agreed(serverFresh: true)).count - once
        #expect(kept < once / 2)
        #expect(fresh == once)
    }

    @Test func `a window of eight bits, which zlib cannot deflate to, sends messages as they are`() {
        let message = Message(.text, Self.sentence(200))
        let bytes = frames([message], DeflateParameters.agreed(server: 8))
        #expect(bytes == rawFrame(0x81, message.bytes))
        #expect(decoded(bytes, DeflateParameters.agreed(server: 8)).events == [.message(message)])
    }

    /// RFC 7692 §7.2.3.1–§7.2.3.6: "Hello" in each form it shows.
    @Test(
        arguments: [
            [0xC1, 0x07, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
            [0x41, 0x03, 0xF2, 0x48, 0xCD, 0x80, 0x04, 0xC9, 0xC9, 0x07, 0x00],
            [0xC1, 0x0B, 0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
            [0xC1, 0x08, 0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00],
            [0xC1, 0x0D, 0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
        ] as [[UInt8]]
    )
    func `the examples of RFC 7692 inflate, also after one another`(bytes: [UInt8]) {
        let hello = FrameEvent.message(Message(.text, Array("Hello".utf8)))
        #expect(decoded(bytes).events == [hello])
        #expect(decoded(bytes + bytes, pieces: 1).events == [hello, hello])
    }

    @Test func `the second of two messages may refer to the first`() {
        let bytes: [UInt8] = [
            0xC1, 0x07, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0xC1, 0x05, 0xF2, 0x00, 0x11, 0x00, 0x00,
        ]
        let hello = FrameEvent.message(Message(.text, Array("Hello".utf8)))
        #expect(decoded(bytes).events == [hello, hello])
        let fresh = decoded(bytes, DeflateParameters.agreed(serverFresh: true))
        #expect(fresh.events == [hello])
        #expect(fresh.failure == WebSocketFailure(1007, "invalid compressed data"))
    }

    @Test func `a final block keeps the window and may end the message without a further byte`() {
        // "Hello" in a final block, with and without the byte after it, then a reference to it.
        let reference: [UInt8] = [0xC1, 0x05, 0xF2, 0x00, 0x11, 0x00, 0x00]
        let hello = FrameEvent.message(Message(.text, Array("Hello".utf8)))
        for tail in [[0x00], []] as [[UInt8]] {
            let final: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00] + tail
            let bytes = rawFrame(0xC1, final) + reference
            #expect(decoded(bytes).events == [hello, hello])
            #expect(decoded(bytes, pieces: 1).events == [hello, hello])
        }
    }

    @Test(arguments: [1, 7, 1 << 20])
    func `final blocks may be many, each with a little, and keep the window`(pieces: Int) {
        // "a" in a final block, often, then "Hello", empty final blocks, and a reference to it.
        let count = 20_000
        let letters = [[UInt8]](repeating: [0x4B, 0x04, 0x00], count: count).flatMap(\.self)
        let empty = [[UInt8]](repeating: [0x03, 0x00], count: 900).flatMap(\.self)
        let hello: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        let reference: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]
        let frame = rawFrame(0xC1, letters + hello + empty + reference)
        let text = String(repeating: "a", count: count) + "HelloHello"
        let message = FrameEvent.message(Message(.text, Array(text.utf8)))
        #expect(decoded(frame + frame, pieces: pieces).events == [message, message])
    }

    @Test(arguments: [2, 3, 4096, 1 << 23])
    func `final blocks that hold nothing are refused when there is no end of them`(pieces: Int) {
        let blocks = (0..<(8 << 20)).map { UInt8($0 % 2 == 0 ? 0x03 : 0x00) }
        let bytes = rawFrame(0xC2, blocks)
        #expect(decoded(bytes, pieces: pieces).failure == WebSocketFailure(1007, "invalid compressed data"))
    }

    @Test func `no limit is a limit too`() {
        let message = Message(.text, Self.sentence(100_000))
        let bytes = frames([message], DeflateParameters())
        #expect(decoded(bytes, limit: .max).events == [.message(message)])
    }

    @Test func `an empty message may be one zero byte or nothing`() {
        let empty = FrameEvent.message(Message(.text, []))
        #expect(decoded(rawFrame(0xC1, [0x00]) + rawFrame(0xC1)).events == [empty, empty])
    }

    @Test func `64 MiB of zeros at a limit of 1 MiB fail with 1009 and take no more memory than that`() throws
    {
        let zeros = Message(.binary, [UInt8](repeating: 0, count: 64 << 20))
        let bytes = frames([zeros], DeflateParameters())
        #expect(bytes.count < 400_000)
        let meter = MeteredInflater(DeflateParameters().inflater(for: .client))
        let decoded = decode(bytes, pieces: 65536, limit: 1 << 20, inflater: meter)
        #expect(decoded.failure == WebSocketFailure(1009, "message too big when inflated"))
        #expect(decoded.events == [])
        #expect(meter.largestCapacity <= 3 << 20)
    }

    @Test func `a message that inflates to exactly the limit passes`() {
        let message = Message(.binary, [UInt8](repeating: 0, count: 100_000))
        let bytes = frames([message], DeflateParameters())
        #expect(decoded(bytes, limit: 100_000).events == [.message(message)])
        #expect(decoded(bytes, limit: 99_999).failure?.code == 1009)
    }

    @Test func `text that inflates to something other than UTF-8 fails with 1007`() {
        let bytes = frames([Message(.binary, [0x48, 0xFF])], DeflateParameters())
        let asText = [0xC1] + bytes.dropFirst()
        #expect(decoded(asText).failure == WebSocketFailure(1007, "text is not UTF-8"))
    }

    @Test func `every split position and every mutation gives the same end, and none traps`() {
        let seed: UInt64 = 0xDEF1_A7E5
        var random = SeededGenerator(seed: seed)
        let messages = [
            Message(.text, Self.sentence(150)), Message(.binary, random.bytes(60)), Message(.text, []),
        ]
        let intact = frames(messages, DeflateParameters())
        let whole = decoded(intact)
        #expect(whole.events == messages.map { .message($0) })
        for cut in 0...intact.count {
            let split = decode(intact, cuts: [cut], inflater: DeflateParameters().inflater(for: .client))
            #expect(split == whole, "cut \(cut)")
        }
        for round in 0..<2000 {
            var bytes = intact
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(
                    in: 0...255,
                    using: &random
                )
            }
            let whole = decoded(bytes, limit: 5000)
            let split = decoded(bytes, pieces: Int.random(in: 1...50, using: &random), limit: 5000)
            // Of two faults within one piece, such as a wrong byte of text and then of the deflate stream, which
            // one is named depends on where it was cut: the code does not.
            let isSame = whole.events == split.events && whole.failure?.code == split.failure?.code
            #expect(isSame, "seed \(seed), round \(round): \(whole.failure as Any), \(split.failure as Any)")
        }
    }
}

/// Watches how much memory an inflater's message takes.
private final class MeteredInflater: MessageInflater {
    private let inner: any MessageInflater
    private(set) var largestCapacity = 0

    init(_ inner: any MessageInflater) {
        self.inner = inner
    }

    func inflate(
        _ input: Span<UInt8>,
        into message: inout [UInt8],
        limit: Int
    ) throws(WebSocketFailure) {
        defer { largestCapacity = max(largestCapacity, message.capacity) }
        try inner.inflate(input, into: &message, limit: limit)
    }

    func finishMessage(into message: inout [UInt8], limit: Int) throws(WebSocketFailure) {
        defer { largestCapacity = max(largestCapacity, message.capacity) }
        try inner.finishMessage(into: &message, limit: limit)
    }
}
