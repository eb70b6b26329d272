/// Reads the text of a regular expression.
struct PatternParser {
    private struct Flags {
        var ignoresCase = false
        /// `^` and `$` match at lines.
        var isMultiline = false
        /// `.` matches a line feed.
        var dotIsAll = false
    }

    private static let deepest = 50
    static let mostRepetitions = 1000

    var rest: Substring.UnicodeScalarView
    private var flags = Flags()
    private var depth = 0

    static func parse(_ pattern: String) throws(MalformedPattern) -> PatternNode {
        var parser = PatternParser(pattern)
        let node = try parser.choice()
        guard parser.rest.isEmpty else { throw MalformedPattern("a `)` closes nothing") }
        return node
    }

    private init(_ pattern: String) {
        rest = pattern[...].unicodeScalars
    }

    mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    /// Branches up to the end, or up to the parenthesis that ends the group.
    private mutating func choice() throws(MalformedPattern) -> PatternNode {
        let outer = flags
        defer { flags = outer }
        var branches = [try sequence()]
        while skip("|") { branches.append(try sequence()) }
        return branches.count == 1 ? branches[0] : .choice(branches)
    }

    private mutating func sequence() throws(MalformedPattern) -> PatternNode {
        var parts: [PatternNode] = []
        while let next = rest.first, next != "|", next != ")" {
            guard let atom = try atom() else { continue }
            parts.append(try repeated(atom))
        }
        return parts.count == 1 ? parts[0] : .sequence(parts)
    }

    // MARK: Repetition

    private mutating func repeated(_ atom: PatternNode) throws(MalformedPattern) -> PatternNode {
        guard let (least, most) = try quantifier() else { return atom }
        guard
            most.map({ $0 >= least && $0 <= PatternParser.mostRepetitions })
                ?? (least <= PatternParser.mostRepetitions)
        else { throw MalformedPattern("a repetition counts from {least,most} up to 1000") }
        // A match is a match, be it the shortest or the longest.
        _ = skip("?")
        if rest.first == "+" { throw MalformedPattern("possessive repetition is not available") }
        if try quantifier() != nil { throw MalformedPattern("a repetition has nothing to repeat") }
        return .repetition(atom, least, most)
    }

    private mutating func quantifier() throws(MalformedPattern) -> (Int, Int?)? {
        if skip("*") { return (0, nil) }
        if skip("+") { return (1, nil) }
        if skip("?") { return (0, 1) }
        return counts()
    }

    /// `{2}`, `{2,}` or `{2,5}`; other braces are braces.
    private mutating func counts() -> (Int, Int?)? {
        guard rest.first == "{", let end = rest.firstIndex(of: "}") else { return nil }
        let inside = rest[rest.index(after: rest.startIndex)..<end]
        let parts = inside.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let least = number(first) else { return nil }
        let range: (Int, Int?)
        switch parts.count {
        case 1: range = (least, least)
        case _ where parts[1].isEmpty: range = (least, nil)
        case _:
            guard let most = number(parts[1]) else { return nil }
            range = (least, most)
        }
        rest = rest[rest.index(after: end)...]
        return range
    }

    /// What is too long to be counted is far too large.
    private func number(_ digits: Substring.UnicodeScalarView) -> Int? {
        guard !digits.isEmpty, digits.allSatisfy({ ("0"..."9").contains($0) }) else { return nil }
        return Int(String(digits)) ?? .max
    }

    // MARK: Atoms

    /// What can be repeated; nil for flags, which are none.
    private mutating func atom() throws(MalformedPattern) -> PatternNode? {
        if try quantifier() != nil { throw MalformedPattern("a repetition has nothing to repeat") }
        let scalar = rest.removeFirst()
        switch scalar {
        case "(": return try group()
        case "[": return .character(try characterClass())
        case ".": return .character(flags.dotIsAll ? .all : CharacterSet.lineFeed.inverted)
        case "^": return .assertion(flags.isMultiline ? .lineStart : .textStart)
        case "$": return .assertion(flags.isMultiline ? .lineEnd : .textEnd)
        case "\\": return try escape()
        case _: return .character(folded(CharacterSet(scalar)))
        }
    }

    func folded(_ set: CharacterSet) -> CharacterSet {
        flags.ignoresCase ? set.ignoringCase : set
    }

    private mutating func group() throws(MalformedPattern) -> PatternNode? {
        depth += 1
        defer { depth -= 1 }
        guard depth <= PatternParser.deepest else { throw MalformedPattern("groups are nested too deeply") }
        let outer = flags
        if skip("?") {
            try takeFlags()
            // Without a colon they hold up to the end of the group around them.
            if skip(")") { return nil }
            guard skip(":") else { throw PatternParser.unknownGroup }
        }
        let node = try choice()
        flags = outer
        guard skip(")") else { throw MalformedPattern("a `(` is not closed") }
        return node
    }

    private static let unknownGroup = MalformedPattern(
        "of groups with `(?` there are (?:…), (?i), (?m) and (?s): looking around is not available"
    )

    private mutating func takeFlags() throws(MalformedPattern) {
        while let letter = rest.first, letter != ":", letter != ")" {
            switch letter {
            case "i": flags.ignoresCase = true
            case "m": flags.isMultiline = true
            case "s": flags.dotIsAll = true
            case _: throw PatternParser.unknownGroup
            }
            rest.removeFirst()
        }
    }

    private mutating func escape() throws(MalformedPattern) -> PatternNode {
        switch rest.first {
        case "b": return assertion(.wordBoundary)
        case "B": return assertion(.noWordBoundary)
        case "A": return assertion(.textStart)
        case "z": return assertion(.textEnd)
        case _: return .character(folded(try escapedSet()))
        }
    }

    private mutating func assertion(_ assertion: PatternNode.Assertion) -> PatternNode {
        rest.removeFirst()
        return .assertion(assertion)
    }
}
