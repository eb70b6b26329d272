/// Checks UTF-8 as it arrives and refuses it at the first byte that cannot continue it (RFC 6455 §8.1).
///
/// Follows table 3-7 of the Unicode standard: no overlong forms, no surrogates, nothing above U+10FFFF.
package struct UTF8Validator: Sendable {
    /// Continuation bytes that the open character still needs.
    private var missing = 0
    /// What the next continuation byte may be.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    package init() {}

    /// Whether everything so far is whole characters, so that the text may end here.
    package var isAtBoundary: Bool { missing == 0 }

    /// Takes the next bytes; false means that the text is not UTF-8, and the validator is of no more use.
    package mutating func accept(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            if missing == 0 {
                index = UTF8Validator.endOfASCII(in: bytes, from: index)
                guard index < bytes.count else { return true }
                guard start(with: bytes[index]) else { return false }
            } else {
                guard bytes[index] >= lowest, bytes[index] <= highest else { return false }
                missing &-= 1
                lowest = 0x80
                highest = 0xBF
            }
            index &+= 1
        }
        return true
    }

    /// The first byte of a character decides how many follow and what the second may be.
    private mutating func start(with byte: UInt8) -> Bool {
        switch byte {
        case 0x00...0x7F: missing = 0
        case 0xC2...0xDF: missing = 1
        case 0xE0: expect(2, from: 0xA0)
        case 0xED: expect(2, through: 0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: expect(3, from: 0x90)
        case 0xF4: expect(3, through: 0x8F)
        case 0xF1...0xF3: missing = 3
        default: return false
        }
        return true
    }

    private mutating func expect(_ count: Int, from lowest: UInt8 = 0x80, through highest: UInt8 = 0xBF) {
        missing = count
        self.lowest = lowest
        self.highest = highest
    }

    /// Skips whole words of ASCII, which is most of what travels; may stop up to 15 bytes early.
    private static func endOfASCII(in bytes: Span<UInt8>, from start: Int) -> Int {
        // Words need unaligned loads, which only raw memory offers; each lies within the span by the condition.
        unsafe bytes.withUnsafeBytes { raw in
            var index = start
            while index &+ 16 <= raw.count {
                let first = unsafe raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let second = unsafe raw.loadUnaligned(fromByteOffset: index &+ 8, as: UInt64.self)
                guard (first | second) & 0x8080_8080_8080_8080 == 0 else { break }
                index &+= 16
            }
            return index
        }
    }
}
