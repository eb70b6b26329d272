internal import BridgeCore

/// Characters that JSON writes as two escapes, the halves of a UTF-16 surrogate pair: `"\ud83d\ude00"`.
///
/// libyaml takes each half for a character, and refuses it.
nonisolated enum SurrogatePairs {
    /// The same text with each pair in double quotes as one escape of YAML, `\U0001f600`; lines stay where they are.
    ///
    /// What stands elsewhere is no escape, and stays. So does a half alone, which libyaml then refuses.
    static func joined(in bytes: [UInt8]) -> [UInt8] {
        guard let masked = masked(bytes) else { return bytes }
        var joined: [UInt8] = []
        joined.reserveCapacity(bytes.count)
        var place = Place()
        for range in doubleQuoted(masked) {
            let done = place.offset
            place.move(to: range.lowerBound, in: bytes)
            joined += bytes[done..<place.offset]
            let start = place.offset
            place.move(to: range.upperBound, in: bytes)
            append(bytes[start..<place.offset], to: &joined)
        }
        return joined + bytes[place.offset...]
    }

    /// A place in a text, by bytes and by characters.
    private struct Place {
        var offset = 0
        var character = 0

        mutating func move(to target: Int, in bytes: [UInt8]) {
            while character < target, offset < bytes.count {
                offset += 1
                while offset < bytes.count, bytes[offset] & 0xC0 == 0x80 { offset += 1 }
                character += 1
            }
        }
    }

    /// A text of the same form, in which every character has its place, with escapes in place of those of halves
    /// that libyaml takes; nil if there is none.
    private static func masked(_ bytes: [UInt8]) -> [UInt8]? {
        var masked: [UInt8]?
        for offset in bytes.indices where half(in: bytes[...], at: offset) != nil {
            masked = masked ?? bytes
            masked?.replaceSubrange(offset..<(offset + escapeLength), with: harmlessEscape)
        }
        return masked
    }

    /// Where the texts in double quotes stand, in characters, as far as the text is YAML.
    private static func doubleQuoted(_ bytes: [UInt8]) -> [Range<Int>] {
        unsafe bytes.withUnsafeBufferPointer { buffer in
            var ranges: [Range<Int>] = []
            do throws(ConfigurationFault) {
                let parser = try unsafe YAMLParser(buffer)
                while let range = try parser.nextDoubleQuoted() { ranges.append(range) }
            } catch {
                // Whoever reads the text in earnest finds the same.
            }
            return ranges
        }
    }

    private static func append(_ quoted: ArraySlice<UInt8>, to joined: inout [UInt8]) {
        var offset = quoted.startIndex
        while offset < quoted.endIndex {
            if let high = half(in: quoted, at: offset), high < 0xDC00,
                let low = half(in: quoted, at: offset + escapeLength), low >= 0xDC00
            {
                let scalar = 0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)
                let digits = String(scalar, radix: 16)
                joined +=
                    Array("\\U".utf8) + Array(repeating: UInt8(ascii: "0"), count: 8 - digits.utf8.count)
                joined += Array(digits.utf8)
                offset += 2 * escapeLength
                continue
            }
            // A backslash takes what follows with it.
            let end = min(quoted.endIndex, offset + (quoted[offset] == UInt8(ascii: "\\") ? 2 : 1))
            joined += quoted[offset..<end]
            offset = end
        }
    }

    /// The surrogate that an escape stands for.
    private static func half(in bytes: ArraySlice<UInt8>, at offset: Int) -> UInt32? {
        guard offset + escapeLength <= bytes.endIndex, bytes[offset] == UInt8(ascii: "\\"),
            bytes[offset + 1] == UInt8(ascii: "u")
        else { return nil }
        var value: UInt32 = 0
        for byte in bytes[(offset + 2)..<(offset + escapeLength)] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return 0xD800..<0xE000 ~= value ? value : nil
    }

    /// The length of `\ud83d`.
    private static let escapeLength = 6
    private static let harmlessEscape = Array("\\u0041".utf8)
}
