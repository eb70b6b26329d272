/// A regular expression that tells whether something in a text matches, in one pass over the text.
///
/// The syntax is that of Perl and JavaScript as far as it can be matched so: `.`, `[a-z]`, `\d \w \s \b` and their
/// opposites, `^ $ \A \z`, groups, `|`, `* + ? {2,5}`, `(?i)`, `(?m)` and `(?s)`. What needs backtracking
/// (back-references, looking around, possessive repetition) is refused. `\d`, `\w`, `\s`, `\b` and `(?i)` know ASCII.
package struct RegularExpression: Equatable, Sendable {
    package let pattern: String
    private let program: PatternProgram
    /// Nil where it would be too large: then the program runs by itself, slower and in one pass as well.
    private let table: PatternTable?

    package init(_ pattern: String) throws(MalformedPattern) {
        self.init(pattern, program: try PatternProgram(PatternParser.parse(pattern)))
    }

    private init(_ pattern: String, program: PatternProgram) {
        self.pattern = pattern
        self.program = program
        table = PatternTable(program)
    }

    /// Whether it matches somewhere in a text, which must be UTF-8.
    func matches(_ text: Span<UInt8>) -> Bool {
        table?.matches(text) ?? program.matches(text)
    }

    package static func == (left: RegularExpression, right: RegularExpression) -> Bool {
        left.pattern == right.pattern
    }

    /// The same without its table.
    var withoutTable: PatternProgram { program }
}

/// What is wrong with a regular expression.
package struct MalformedPattern: Error, Equatable, Sendable {
    /// A sentence that shows nothing of the pattern.
    package var text: String

    init(_ text: String) {
        self.text = text
    }
}

/// A pattern as a tree.
indirect enum PatternNode: Equatable, Sendable {
    case empty
    /// One character of these.
    case character(CharacterSet)
    case assertion(Assertion)
    case sequence([PatternNode])
    case choice([PatternNode])
    /// At least and at most so often; nil: without a limit.
    case repetition(PatternNode, Int, Int?)

    /// A condition on a place between characters.
    enum Assertion: Equatable, Sendable {
        case textStart, textEnd, lineStart, lineEnd, wordBoundary, noWordBoundary
    }
}
