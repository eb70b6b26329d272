import FoundationEssentials

/// A text file of this project, by its path from the package's root.
struct SourceText: Sendable {
    let path: String
    let lines: [String]
    /// The lines with comments and the insides of string literals blanked out, so that what is left is code.
    let code: [String]

    init(path: String, text: String) {
        self.path = path
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var scanner = CodeScanner()
        self.lines = lines
        code = lines.map { scanner.codeOnly(in: $0) }
    }

    /// Whether a plain `//` comment stands on the line or directly above it; a `///` describes, it gives no reason.
    func hasReason(besideLine index: Int) -> Bool {
        if lines[index].contains(#/(^|[^/:])//[^/]/#) { return true }
        return index > 0 && lines[index - 1].contains(#/^\s*//[^/]/#)
    }
}

/// What breaks a rule: `path:line: message`.
struct Finding: Equatable, CustomStringConvertible {
    let path: String
    let line: Int
    let message: String

    var description: String { "\(path):\(line): \(message)" }
}
