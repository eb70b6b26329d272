import Testing
import WebSocketTestSupport

@testable import BridgeCore

@Suite struct `Regular expressions` {
    private static func matches(_ pattern: String, _ text: String) throws -> Bool {
        let expression = try RegularExpression(pattern)
        let bytes = Array(text.utf8)
        let answer = expression.matches(bytes)
        // The table and the program it was made from are of one mind.
        #expect(expression.withoutTable.matches(bytes) == answer)
        return answer
    }

    @Test(
        arguments: [
            ("", "", true), ("", "x", true), ("pong", "a pong!", true), ("pong", "pon g", false),
            ("^pong$", "pong", true), ("^pong$", "pong\n", false), ("^pong$", "xpong", false),
            ("a.c", "abc", true), ("a.c", "a\nc", false), ("(?s)a.c", "a\nc", true), ("a.c", "aéc", true),
            ("a.c", "a😀c", true), ("^.$", "😀", true), ("^..$", "😀", false),
            ("[a-c]+$", "xyzabc", true), ("[^a-c]", "abc", false), ("[^a-c]", "abcd", true),
            ("[]a]", "]", true), ("[^]a]", "]", false), ("[a-]", "-", true), ("[-a]", "-", true),
            ("[\\d.]+", "3.5", true), ("[é-ü]", "ö", true), ("[é-ü]", "e", false), ("[\\]]", "]", true),
            ("\\d{3}", "12", false), ("\\d{3}", "123", true), ("^\\d{2,3}$", "1234", false),
            ("^a{0}$", "", true), ("^a{2,}$", "aaaa", true), ("^a{2,}$", "a", false),
            ("a{,2}", "a{,2}", true),
            ("{\"op\":1}", "{\"op\":1}", true), ("x{", "x{", true),
            ("cat|dog", "hotdog", true), ("^(cat|dog)s?$", "dogs", true), ("^(?:cat|dog)$", "cow", false),
            ("a|", "", true), ("()", "", true), ("(a*)*b", "aaab", true), ("(a*)*b", "aaac", false),
            ("a*?b", "aab", true), ("a+?", "", false),
            ("\\bcat\\b", "a cat.", true), ("\\bcat\\b", "concat", false), ("\\Bcat", "concat", true),
            ("\\w\\W\\s\\S", "a! b", true), ("\\D", "1", false), ("^\\s+$", " \t\n\r\u{0B}\u{0C}", true),
            ("(?i)PONG", "pong", true), ("(?i)[a-c]", "B", true), ("(?i:P)ong", "pong", true),
            ("(?i:p)ong", "PONG", false), ("(a(?i)b)c", "aBc", true), ("(a(?i)b)c", "aBC", false),
            ("(?m)^b$", "a\nb\nc", true), ("^b$", "a\nb\nc", false), ("(?m)\\Ab", "a\nb", false),
            ("b\\z", "ab", true), ("b\\z", "b\n", false), ("^$", "", true), ("$^", "", true),
            ("a$b", "ab", false),
            ("\\x41\\u00e9\\x{1F600}", "Aé😀", true), ("\\t\\n\\r", "\t\n\r", true), ("\\.", "a", false),
            ("\\{\\}\\[\\]\\(\\)\\*\\+\\?\\|\\\\\\/\\^\\$", "{}[]()*+?|\\/^$", true),
        ] as [(String, String, Bool)]
    )
    func `match where they should`(pattern: String, text: String, isMatch: Bool) throws {
        #expect(try Self.matches(pattern, text) == isMatch)
    }

    @Test(
        arguments: [
            "(", ")", "a)", "[a", "[", "*", "+a", "a**", "a{2}{3}", "|*", "(?=a)", "(?!a)", "(?<=a)",
            "(?<n>a)", "(a)\\1",
            "\\", "\\q", "\\k", "a++", "a{3,2}", "a{1001}", "a{99999999999999999999}", "[z-a]", "[a-\\d]",
            "[[:alpha:]]", "\\x4", "\\xZZ", "\\x{110000}", "\\x{}", "\\ud800", "(?i", "(?x)a",
            "a{1000}a{1000}",
            "((a{100}){100}){100}", "(((){1000}){1000}){1000}", String(repeating: "(", count: 100), "(?i)*",
            "\\p{L}",
        ]
    )
    func `that cannot be matched in one pass, or are none, are refused`(pattern: String) {
        #expect(throws: MalformedPattern.self) { try RegularExpression(pattern) }
    }

    @Test(
        arguments: [
            "(a+)+b", "(a*)*b", "(a|aa)+b", "(a|a?)+b", "a*a*a*a*a*b", "(.*)(.*)(.*)b", "([a-z]+)*b",
            "(a|b|ab)*c",
            "a.*a.*a.*a.*b", "(a|b)*a(a|b){12}c",
        ]
    )
    func `look at each character of a hostile text once`(pattern: String) throws {
        // A backtracking engine would need longer than the universe has, or the square of the length.
        let text = Array(repeating: UInt8(ascii: "a"), count: 200_000)
        #expect(try RegularExpression(pattern).matches(text) == false)
    }

    @Test func `that are too large for a table run without one`() throws {
        let expression = try RegularExpression("(a|b)*a(a|b){15}c")
        let text = Array(String(repeating: "ab", count: 200).utf8)
        #expect(expression.matches(text) == false)
        #expect(expression.matches(Array("abababababababababc".utf8)))
    }

    /// Swift's own engine, which backtracks, is the judge of small random patterns and texts.
    @Test(arguments: 1...400 as ClosedRange<UInt64>)
    func `agree with another engine`(seed: UInt64) throws {
        var dice = SeededGenerator(seed: seed)
        let pattern = randomPattern(depth: 3, &dice)
        let other = try Regex(pattern).matchingSemantics(.unicodeScalar).asciiOnlyWordCharacters()
            .wordBoundaryKind(.simple)
        for _ in 0..<20 {
            let count = Int.random(in: 0...8, using: &dice)
            let letters = ["a", "b", "c", "é", " ", "😀"]
            let text = (0..<count).map { _ in letters.randomElement(using: &dice) ?? "" }.joined()
            #expect(try Self.matches(pattern, text) == text.contains(other), "/\(pattern)/ in `\(text)`")
        }
    }

    private func randomPattern(depth: Int, _ dice: inout SeededGenerator) -> String {
        let atoms = ["a", "b", "é", ".", "[ab]", "[^a]", "\\w", "\\b", "^", "$", "[a-c😀]", "\\W"]
        let kind = depth == 0 ? 0 : Int.random(in: 0...5, using: &dice)
        switch kind {
        case 1:
            return randomPattern(depth: depth - 1, &dice) + randomPattern(depth: depth - 1, &dice)
        case 2:
            return "(?:\(randomPattern(depth: depth - 1, &dice))|\(randomPattern(depth: depth - 1, &dice)))"
        case 3, 4:
            let repeats = ["*", "+", "?", "{2}", "{1,2}", "{0,}", "*?", "+?"]
            return "(?:\(randomPattern(depth: depth - 1, &dice)))"
                + (repeats.randomElement(using: &dice) ?? "")
        default:
            return atoms.randomElement(using: &dice) ?? "a"
        }
    }
}
