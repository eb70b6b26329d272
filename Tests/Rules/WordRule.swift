import Testing

/// Words that code must not use in some folder, or only with a reason beside them.
struct WordRule: Sendable, CustomTestStringConvertible {
    let folder: String
    let words: [Word]
    /// Whether a plain comment on the line or directly above it makes the word acceptable.
    let reasonSuffices: Bool

    /// A pattern and how a finding names it.
    struct Word: Sendable {
        let name: String
        let pattern: String

        init(_ name: String, pattern: String) {
            self.name = name
            self.pattern = pattern
        }
    }

    var testDescription: String { folder }

    /// The findings in one file; none if the file lies elsewhere.
    ///
    /// - Throws: when a pattern is not a regular expression.
    func findings(in file: SourceText) throws -> [Finding] {
        guard file.path.hasPrefix(folder) else { return [] }
        var findings: [Finding] = []
        for word in words {
            let pattern = try Regex(word.pattern)
            for (index, code) in file.code.enumerated() where code.contains(pattern) {
                if reasonSuffices && file.hasReason(besideLine: index) { continue }
                let complaint =
                    reasonSuffices ? "without a reason in a comment beside it" : "is not allowed here"
                findings.append(
                    Finding(path: file.path, line: index + 1, message: "\(word.name) \(complaint)")
                )
            }
        }
        return findings
    }
}
