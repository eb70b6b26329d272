import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// Autobahn's family 7.
@Suite struct `Close frames` {
    private func closing(_ code: UInt16, _ reason: [UInt8] = []) -> [UInt8] {
        rawFrame(0x88, bigEndian(UInt64(code), width: 2) + reason)
    }

    @Test func `without payload there is no code`() {
        #expect(decode(rawFrame(0x88)).events == [.close(code: nil, reason: "")])
    }

    @Test func `half a code is refused`() {
        #expect(decode(rawFrame(0x88, [3])).failure == WebSocketFailure(1002, "close frame with half a code"))
    }

    @Test(arguments: [1000, 1001, 1002, 1003] + Array(1007...1014) + [3000, 3999, 4000, 4999] as [UInt16])
    func `a valid code and its reason arrive exactly`(code: UInt16) {
        let decoded = decode(closing(code, Array("adiós".utf8)), pieces: 1)
        #expect(decoded.events == [.close(code: code, reason: "adiós")])
        #expect(CloseCode.mayBeOnTheWire(code))
    }

    @Test(arguments: [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535] as [UInt16])
    func `an invalid code is refused`(code: UInt16) {
        #expect(decode(closing(code)).failure == WebSocketFailure(1002, "invalid close code"))
        #expect(!CloseCode.mayBeOnTheWire(code))
    }

    /// RFC 6455 §7.4 and the registry, written down once more.
    @Test func `of all codes those of the registry and of others' use may be on the wire, and no other`() {
        let assigned = Set((1000...1003).map { UInt16($0) } + (1007...1014).map { UInt16($0) })
        let free = UInt16(3000)...4999
        var wrong: [UInt16] = []
        for code in UInt16.min...UInt16.max {
            let isRight = assigned.contains(code) || free.contains(code)
            let decoded = decode(closing(code))
            let isAccepted = decoded.events == [.close(code: code, reason: "")]
            let isRefused = decoded.failure == WebSocketFailure(1002, "invalid close code")
            let isSent = CloseCode.payload(code: code, reason: "") == bigEndian(UInt64(code), width: 2)
            let isKeptBack = CloseCode.payload(code: code, reason: "why") == []
            let isFine = isRight ? isAccepted && isSent : isRefused && isKeptBack
            if !isFine { wrong.append(code) }
        }
        #expect(wrong == [])
    }

    @Test(arguments: ["a", "é", "€", "😀"], 0...4)
    func `a reason is cut so that it stays UTF-8, whatever it is made of`(character: String, shift: Int) {
        let text = String(repeating: "x", count: shift) + String(repeating: character, count: 130)
        let reason = CloseCode.payload(code: 4000, reason: text).dropFirst(2)
        #expect((120...123).contains(reason.count))
        let read = String(validating: reason, as: UTF8.self)
        #expect(read.map(text.hasPrefix) == true)
    }

    @Test func `a reason may have 123 bytes`() {
        let reason = String(repeating: "*", count: 123)
        #expect(decode(closing(1000, Array(reason.utf8))).events == [.close(code: 1000, reason: reason)])
    }

    @Test(arguments: [[0xCE, 0xBA, 0xED, 0xA0, 0x80], [0xE2, 0x82]] as [[UInt8]])
    func `a reason that is not UTF-8 is refused`(reason: [UInt8]) {
        #expect(decode(closing(1000, reason)).failure == WebSocketFailure(1007, "text is not UTF-8"))
    }

    @Test func `nothing after a close frame is looked at`() {
        let bytes = closing(1000) + rawFrame(0x81, text: "late") + [0xFF, 0xFF]
        for piece in 1...bytes.count {
            let decoded = decode(bytes, pieces: piece)
            #expect(decoded.events == [.close(code: 1000, reason: "")])
            #expect(decoded.failure == nil)
        }
    }

    @Test func `a close frame may interrupt a message`() {
        let decoded = decode(rawFrame(0x01, text: "a") + closing(1001))
        #expect(decoded.events == [.close(code: 1001, reason: "")])
    }

    @Test(arguments: [nil, 1004, 1005, 1006, 1015, 999, 2999, 5000] as [UInt16?])
    func `a code that must not be sent goes out as none`(code: UInt16?) {
        #expect(CloseCode.payload(code: code, reason: "why") == [])
    }

    @Test func `a reason goes out with its code, cut to 123 bytes at the end of a character`() {
        #expect(CloseCode.payload(code: 1000, reason: "bye") == [0x03, 0xE8] + "bye".utf8)
        let payload = CloseCode.payload(code: 4000, reason: String(repeating: "€", count: 100))
        // 41 × 3 bytes are 123; one byte before the reason leaves 122, so 40 whole ones.
        #expect(payload.count == 125)
        let shifted = CloseCode.payload(code: 4000, reason: "a" + String(repeating: "€", count: 100))
        #expect(Array(shifted.dropFirst(2)) == Array(("a" + String(repeating: "€", count: 40)).utf8))
    }
}
