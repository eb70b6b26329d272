import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// Autobahn's families 2 (pings and pongs), 3 (reserved bits), 4 (opcodes) and 5 (fragmentation).
@Suite struct `Control frames, reserved bits, opcodes and fragments` {
    @Test(arguments: [0, 1, 124, 125], [1, 200])
    func `pings and pongs arrive with their payload`(length: Int, piece: Int) {
        let payload = (0..<length).map { UInt8(255 - $0) }
        let decoded = decode(rawFrame(0x89, payload) + rawFrame(0x8A, payload), pieces: piece)
        #expect(decoded.events == [.ping(payload), .pong(payload)])
    }

    @Test(arguments: [0x88, 0x89, 0x8A] as [UInt8])
    func `a control frame over 125 bytes is refused`(first: UInt8) {
        let decoded = decode(rawFrame(first, [UInt8](repeating: 0, count: 126)), pieces: 1)
        #expect(decoded.failure == WebSocketFailure(1002, "control frame over 125 bytes"))
        #expect(decoded.failedAfter == 2)
    }

    @Test(arguments: [0x08, 0x09, 0x0A] as [UInt8])
    func `a fragmented control frame is refused`(first: UInt8) {
        #expect(decode(rawFrame(first)).failure == WebSocketFailure(1002, "fragmented control frame"))
    }

    @Test(
        arguments: [0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70] as [UInt8],
        [0x1, 0x2, 0x8, 0x9, 0xA] as [UInt8]
    )
    func `a reserved bit is refused at the first byte`(bits: UInt8, opcode: UInt8) {
        let decoded = decode(rawFrame(0x80 | bits | opcode, text: "Hello"), pieces: 1)
        #expect(decoded.failure == WebSocketFailure(1002, "reserved bit set"))
        #expect(decoded.failedAfter == 1)
    }

    @Test(arguments: [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8])
    func `a reserved opcode is refused at the first byte, after what came before`(opcode: UInt8) {
        let decoded = decode(rawFrame(0x81, text: "a") + rawFrame(0x80 | opcode, text: "b"))
        #expect(decoded.events == [.message(Message(.text, [UInt8(ascii: "a")]))])
        #expect(decoded.failure == WebSocketFailure(1002, "unknown opcode"))
    }

    @Test func `control frames stand between fragments`() {
        let bytes =
            rawFrame(0x01, text: "one ") + rawFrame(0x89, text: "?") + rawFrame(0x00, text: "two ")
            + rawFrame(0x8A) + rawFrame(0x80, text: "three")
        let expected: [FrameEvent] = [
            .ping([UInt8(ascii: "?")]), .pong([]), .message(Message(.text, Array("one two three".utf8))),
        ]
        for piece in 1...bytes.count { #expect(decode(bytes, pieces: piece).events == expected) }
    }

    @Test(arguments: [0x00, 0x80] as [UInt8])
    func `a continuation without a message is refused`(first: UInt8) {
        let failure = WebSocketFailure(1002, "continuation without a message")
        #expect(decode(rawFrame(first, text: "a")).failure == failure)
        #expect(decode(rawFrame(0x81, text: "a") + rawFrame(first, text: "a")).failure == failure)
    }

    @Test(arguments: [0x01, 0x02, 0x81, 0x82] as [UInt8])
    func `a new message within a fragmented one is refused`(first: UInt8) {
        let decoded = decode(rawFrame(0x01, text: "a") + rawFrame(first, text: "b"))
        #expect(decoded.failure == WebSocketFailure(1002, "new message within a fragmented one"))
    }

    @Test func `fragments may be empty`() {
        let bytes = rawFrame(0x01) + rawFrame(0x00) + rawFrame(0x00, text: "a") + rawFrame(0x80)
        #expect(decode(bytes).events == [.message(Message(.text, [UInt8(ascii: "a")]))])
        #expect(decode(rawFrame(0x02) + rawFrame(0x80)).events == [.message(Message(.binary, []))])
    }
}
