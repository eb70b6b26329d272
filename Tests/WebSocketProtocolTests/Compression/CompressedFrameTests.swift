import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// What RFC 7692 §6 and §7.2.2 ask of framing; real deflate streams are tested where zlib is.
@Suite struct `Compressed frames` {
    private func decoded(_ bytes: [UInt8], limit: Int = 100) -> Decoded {
        decode(bytes, pieces: 1, limit: limit, inflater: Doubling())
    }

    @Test func `RSV1 on the first frame marks the whole message`() {
        let bytes = rawFrame(0x41, text: "ab") + rawFrame(0x89) + rawFrame(0x00, text: "c") + rawFrame(0x80)
        #expect(decoded(bytes).events == [.ping([]), .message(Message(.text, Array("aabbcc.".utf8)))])
    }

    @Test func `a message without RSV1 is taken as it is, though compression was agreed`() {
        let bytes = rawFrame(0x81, text: "ab") + rawFrame(0xC1, text: "ab") + rawFrame(0x82, text: "!")
        let expected: [FrameEvent] = [
            .message(Message(.text, Array("ab".utf8))), .message(Message(.text, Array("aabb.".utf8))),
            .message(Message(.binary, Array("!".utf8))),
        ]
        #expect(decoded(bytes).events == expected)
    }

    @Test(arguments: [0x40, 0xC0] as [UInt8])
    func `RSV1 on a continuation is refused`(first: UInt8) {
        let decoded = decoded(rawFrame(0x41, text: "a") + rawFrame(first, text: "b"))
        #expect(decoded.failure == WebSocketFailure(1002, "reserved bit set"))
    }

    @Test(arguments: [0xC8, 0xC9, 0xCA] as [UInt8])
    func `RSV1 on a control frame is refused`(first: UInt8) {
        #expect(decoded(rawFrame(first)).failure == WebSocketFailure(1002, "reserved bit set"))
    }

    @Test func `the limit holds for what a message inflates to, at once`() {
        #expect(decoded(rawFrame(0xC2, text: "abcd"), limit: 9).failure == nil)
        let over = decoded(rawFrame(0xC2, text: "abcde"), limit: 9)
        #expect(over.failure == WebSocketFailure(1009, "message too big when inflated"))
        #expect(over.failedAfter == 7)
        #expect(decoded(rawFrame(0xC2, text: "abcd"), limit: 8).failure?.code == 1009)
    }

    @Test func `corrupt data fails with 1007`() {
        let decoded = decoded(rawFrame(0xC2, text: "a!"))
        #expect(decoded.failure == WebSocketFailure(1007, "invalid compressed data"))
    }

    @Test func `the inflated text must be UTF-8, and fails as early as it shows`() {
        let decoded = decoded(rawFrame(0x41, [0xC3]) + rawFrame(0x80, text: "a"))
        #expect(decoded.failure == WebSocketFailure(1007, "text is not UTF-8"))
        #expect(decoded.failedAfter == 3)
    }

    @Test func `an empty compressed message still has an end`() {
        #expect(decoded(rawFrame(0xC1)).events == [.message(Message(.text, [UInt8(ascii: ".")]))])
    }
}
