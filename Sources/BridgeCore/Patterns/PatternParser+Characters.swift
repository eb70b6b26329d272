/// Characters, and classes of them.
extension PatternParser {
    mutating func characterClass() throws(MalformedPattern) -> CharacterSet {
        let isInverted = skip("^")
        var ranges: [ClosedRange<UInt32>] = []
        // A bracket right at the beginning is one of the characters.
        var isFirst = true
        while isFirst || rest.first != "]" {
            isFirst = false
            let start = try member()
            guard rest.first == "-", rest.dropFirst().first != "]", rest.count > 1 else {
                ranges += start.ranges
                continue
            }
            rest.removeFirst()
            let end = try member()
            guard let low = start.only, let high = end.only, low <= high else {
                throw MalformedPattern("a range of characters in [ ] has no order")
            }
            ranges.append(low...high)
        }
        rest.removeFirst()
        let set = folded(CharacterSet(ranges))
        return isInverted ? set.inverted : set
    }

    private mutating func member() throws(MalformedPattern) -> CharacterSet {
        guard let scalar = rest.popFirst() else { throw MalformedPattern("a `[` is not closed") }
        if scalar == "[", let next = rest.first, ":.=".unicodeScalars.contains(next) {
            throw MalformedPattern("classes such as [:alpha:] are not available")
        }
        return scalar == "\\" ? try escapedSet() : CharacterSet(scalar)
    }

    mutating func escapedSet() throws(MalformedPattern) -> CharacterSet {
        guard let letter = rest.popFirst() else { throw MalformedPattern("a `\\` ends it") }
        switch letter {
        case "d": return .digits
        case "D": return CharacterSet.digits.inverted
        case "w": return .word
        case "W": return CharacterSet.word.inverted
        case "s": return .space
        case "S": return CharacterSet.space.inverted
        case "n": return CharacterSet("\n")
        case "r": return CharacterSet("\r")
        case "t": return CharacterSet("\t")
        case "f": return CharacterSet("\u{0C}")
        case "v": return CharacterSet("\u{0B}")
        case "x": return CharacterSet(try hexadecimal(2))
        case "u": return CharacterSet(try hexadecimal(4))
        case _:
            guard letter.isASCII, !letter.properties.isAlphabetic, !("0"..."9").contains(letter) else {
                throw MalformedPattern("there is no such escape as \\ with this letter or digit")
            }
            return CharacterSet(letter)
        }
    }

    /// So many digits, or any number of them in braces.
    private mutating func hexadecimal(_ count: Int) throws(MalformedPattern) -> Unicode.Scalar {
        var digits = String(rest.prefix(count))
        if rest.first == "{", let end = rest.firstIndex(of: "}") {
            digits = String(rest[rest.index(after: rest.startIndex)..<end])
            rest = rest[rest.index(after: end)...]
        } else {
            guard digits.unicodeScalars.count == count else { throw PatternParser.unknownCode }
            rest = rest.dropFirst(count)
        }
        guard digits.first?.isHexDigit == true,
            let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init)
        else { throw PatternParser.unknownCode }
        return scalar
    }

    private static let unknownCode = MalformedPattern(
        "a character by its number is written \\x41, \\u00E9 or \\x{1F600}"
    )
}

extension CharacterSet {
    /// The character, if it is just one.
    fileprivate var only: UInt32? {
        guard ranges.count == 1, ranges[0].count == 1 else { return nil }
        return ranges[0].lowerBound
    }
}
