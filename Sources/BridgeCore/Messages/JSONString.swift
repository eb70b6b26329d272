/// The content of JSON strings (RFC 8259 §7), without their quotes, whose grammar was checked.
enum JSONString {
    /// The characters that an escaped content stands for, as UTF-8; half a surrogate pair becomes U+FFFD.
    static func decoded(_ content: Span<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(content.count)
        var at = 0
        while at < content.count {
            let byte = content[at]
            at += 1
            guard byte == UInt8(ascii: "\\"), at < content.count else {
                text.append(byte)
                continue
            }
            let letter = content[at]
            at += 1
            switch letter {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"): text.append(contentsOf: String(scalar(content, &at)).utf8)
            case _: text.append(letter)
            }
        }
        return text
    }

    /// No byte of a text takes more bytes in a content.
    static let longestEscape = 6

    /// What a value says: the characters of a string, which comes with its quotes, or the text of another value.
    static func meaning(of value: ArraySlice<UInt8>) -> [UInt8] {
        guard value.count >= 2, value.first == UInt8(ascii: "\"") else { return Array(value) }
        let content = value.dropFirst().dropLast()
        return content.contains(UInt8(ascii: "\\")) ? decoded(content.span) : Array(content)
    }

    /// Whether an escaped content stands for this text.
    static func isEqual(_ content: Span<UInt8>, _ text: [UInt8]) -> Bool {
        // An escape is longer than what it stands for.
        guard content.count >= text.count else { return false }
        var isEscaped = false
        for index in content.indices where content[index] == UInt8(ascii: "\\") { isEscaped = true }
        if isEscaped { return decoded(content) == text }
        return areSame(content, text)
    }

    /// Whether these are the same bytes.
    static func areSame(_ bytes: Span<UInt8>, _ others: [UInt8]) -> Bool {
        guard bytes.count == others.count else { return false }
        let others = others.span
        for index in bytes.indices where bytes[index] != others[index] { return false }
        return true
    }

    /// The first quote, backslash or control character from an index on; the end if there is none.
    static func endOfPlain(in bytes: Span<UInt8>, from start: Int) -> Int {
        // Words need unaligned loads, which only raw memory offers; each lies within the span by the condition.
        unsafe bytes.withUnsafeBytes { raw in
            var index = start
            while index &+ 8 <= raw.count {
                let word = unsafe raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let found = JSONString.specials(in: UInt64(littleEndian: word))
                guard found == 0 else { return index &+ found.trailingZeroBitCount / 8 }
                index &+= 8
            }
            while index < raw.count, unsafe !isSpecial(raw[index]) { index &+= 1 }
            return index
        }
    }

    /// Sets the highest bit of the first byte that ends plain text; what is above it means nothing.
    private static func specials(in word: UInt64) -> UInt64 {
        let quotes = word ^ 0x2222_2222_2222_2222
        let backslashes = word ^ 0x5C5C_5C5C_5C5C_5C5C
        let ones: UInt64 = 0x0101_0101_0101_0101
        return
            ((quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
            | (word &- 0x2020_2020_2020_2020) & ~word) & 0x8080_8080_8080_8080
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// How many bytes follow a backslash, if they are an escape.
    static func escapeLength(_ bytes: Span<UInt8>, at index: Int) -> Int? {
        guard index < bytes.count else { return nil }
        switch bytes[index] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return 1
        case UInt8(ascii: "u"):
            return hexadecimal(bytes, at: index + 1) == nil ? nil : 5
        case _:
            return nil
        }
    }

    /// Reads the four digits of an escape, and another escape that belongs to it.
    private static func scalar(_ content: Span<UInt8>, _ at: inout Int) -> Character {
        guard let first = hexadecimal(content, at: at) else { return replacement }
        at += 4
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        guard first < 0xDC00, at + 6 <= content.count, content[at] == UInt8(ascii: "\\"),
            content[at + 1] == UInt8(ascii: "u"), let second = hexadecimal(content, at: at + 2),
            0xDC00...0xDFFF ~= second,
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { return replacement }
        at += 6
        return Character(scalar)
    }

    private static let replacement: Character = "\u{FFFD}"

    private static func hexadecimal(_ bytes: Span<UInt8>, at index: Int) -> UInt32? {
        guard index + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for offset in 0..<4 {
            guard let digit = digit(bytes[index + offset]) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case _: nil
        }
    }
}
