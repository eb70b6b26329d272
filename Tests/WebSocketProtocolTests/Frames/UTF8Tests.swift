import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// Autobahn's family 6: valid and invalid UTF-8, whole, cut anywhere, and refused at the first wrong byte.
@Suite struct `UTF-8` {
    static let valid: [String] = [
        "", "a", "Hello-µ@ßöäüàá-UTF-8!!", "κόσμε", "\u{0}", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}",
        "\u{FFF}", "\u{1000}", "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{FFFE}", "\u{FFFF}", "\u{10000}",
        "\u{1FFFF}", "\u{3FFFF}", "\u{40000}", "\u{FFFFF}", "\u{100000}", "\u{10FFFF}",
        String(repeating: "sixteen bytes of", count: 5) + "é" + String(repeating: "x", count: 40),
        String(repeating: "日本語", count: 50),
    ]

    /// Text and the index of the first byte that cannot continue it.
    static let invalid: [([UInt8], Int)] = [
        ([0x80], 0), ([0xBF], 0), ([0xC0, 0xAF], 0), ([0xC1, 0xBF], 0), ([0xE0, 0x80, 0xAF], 1),
        ([0xE0, 0x9F, 0xBF], 1), ([0xF0, 0x80, 0x80, 0xAF], 1), ([0xF0, 0x8F, 0xBF, 0xBF], 1),
        ([0xF5, 0x80, 0x80, 0x80], 0), ([0xF8, 0x88, 0x80, 0x80, 0x80], 0), ([0xFE], 0), ([0xFF], 0),
        ([0xED, 0xA0, 0x80], 1), ([0xED, 0xBF, 0xBF], 1), ([0xF4, 0x90, 0x80, 0x80], 1),
        ([0xC3, 0x28], 1), ([0xE2, 0x28, 0xA1], 1), ([0xE2, 0x82, 0x28], 2), ([0xF0, 0x90, 0x28, 0xBC], 2),
        ([0xF0, 0x90, 0x8C, 0x28], 3), (Array("0123456789abcdefXYZ".utf8) + [0xFF, 0x41], 19),
        (Array("κόσμε".utf8) + [0xED, 0xA0, 0x80] + Array("edited".utf8), 11),
    ]

    @Test(arguments: valid)
    func `a valid text passes, cut at any byte`(text: String) {
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            var validator = UTF8Validator()
            let startPasses = validator.accept(bytes.span.extracting(..<cut))
            let endsWhole = validator.isAtBoundary
            let restPasses = validator.accept(bytes.span.extracting(cut...))
            let isWhole = String(validating: bytes[..<cut], as: UTF8.self) != nil
            #expect(startPasses && restPasses)
            #expect(endsWhole == isWhole)
            #expect(validator.isAtBoundary)
        }
    }

    @Test(arguments: invalid)
    func `an invalid text is refused at its first wrong byte`(bytes: [UInt8], wrong: Int) {
        var validator = UTF8Validator()
        let startPasses = validator.accept(bytes.span.extracting(..<wrong))
        let wrongBytePasses = validator.accept(bytes.span.extracting(wrong..<(wrong + 1)))
        #expect(startPasses)
        #expect(!wrongBytePasses)
    }

    @Test func `the verdict on two and three bytes is that of the standard library`() {
        for first in UInt8.min...UInt8.max {
            for second in stride(from: UInt8(0), through: 0xFF, by: 5) {
                for third in [0x00, 0x7F, 0x80, 0xBF, 0xC0] as [UInt8] {
                    let bytes = [first, second, third]
                    var validator = UTF8Validator()
                    let isValid = validator.accept(bytes.span) && validator.isAtBoundary
                    #expect(isValid == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
                }
            }
        }
    }

    @Test func `a message fails with 1007 before it is complete`() {
        let bytes = rawFrame(0x01, Array("κόσμε".utf8)) + rawFrame(0x00, [0xF4, 0x90])
        let decoded = decode(bytes, pieces: 1)
        #expect(decoded.failure == WebSocketFailure(1007, "text is not UTF-8"))
        #expect(decoded.failedAfter == bytes.count)
        let within = decode(rawFrame(0x81, [0xFF] + [UInt8](repeating: 97, count: 50)), pieces: 1)
        #expect(within.failedAfter == 3)
    }

    @Test func `a message that ends within a character fails with 1007`() {
        #expect(decode(rawFrame(0x81, [0xE2, 0x82])).failure == WebSocketFailure(1007, "text is not UTF-8"))
    }

    @Test func `a character may lie across fragments, and each message starts anew`() {
        let bytes = rawFrame(0x01, [0xE2]) + rawFrame(0x00, [0x82]) + rawFrame(0x80, [0xAC])
        let euro = FrameEvent.message(Message(.text, Array("€".utf8)))
        #expect(decode(bytes + bytes).events == [euro, euro])
    }

    @Test func `binary messages are not looked at`() {
        #expect(decode(rawFrame(0x82, [0xFF, 0xFE])).events == [.message(Message(.binary, [0xFF, 0xFE]))])
    }
}
