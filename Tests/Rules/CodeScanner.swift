/// Blanks out comments and string literals, line by line; remembers what is still open at a line's end.
///
/// It knows nested block comments, `"…"`, `#"…"#` and `"""` literals. Interpolated code counts as string.
struct CodeScanner {
    private var commentDepth = 0
    /// The closing delimiter of a multi-line literal that is open.
    private var openLiteral: String?

    /// The line as it is, but for comments and literals, which become blanks.
    mutating func codeOnly(in line: String) -> String {
        var rest = Substring(line)
        var code = ""
        while let character = rest.first {
            if commentDepth > 0 {
                skipInsideComment(&rest)
            } else if let closing = openLiteral {
                skipInsideLiteral(&rest, closing: closing)
            } else if rest.hasPrefix("//") {
                break
            } else if rest.hasPrefix("/*") {
                commentDepth = 1
                rest.removeFirst(2)
                code += " "
            } else if let opening = rest.prefixMatch(of: #/#*("""|")/#) {
                open(opening.output.0)
                rest.removeFirst(opening.output.0.count)
                code += " "
            } else {
                code.append(character)
                rest.removeFirst()
            }
        }
        // Only a literal of several lines survives the end of its line.
        if let closing = openLiteral, !closing.hasPrefix("\"\"\"") { openLiteral = nil }
        return code
    }

    private mutating func open(_ delimiter: Substring) {
        openLiteral = String(delimiter.reversed())
    }

    private mutating func skipInsideComment(_ rest: inout Substring) {
        if rest.hasPrefix("*/") {
            commentDepth -= 1
            rest.removeFirst(2)
        } else if rest.hasPrefix("/*") {
            commentDepth += 1
            rest.removeFirst(2)
        } else {
            rest.removeFirst()
        }
    }

    private mutating func skipInsideLiteral(_ rest: inout Substring, closing: String) {
        if rest.hasPrefix(closing) {
            openLiteral = nil
            rest.removeFirst(closing.count)
        } else if rest.first == "\\" && !closing.hasSuffix("#") {
            rest.removeFirst(min(2, rest.count))
        } else {
            rest.removeFirst()
        }
    }
}
