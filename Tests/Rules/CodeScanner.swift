/// Blanks out comments and string literals, line by line; remembers what is still open at a line's end.
///
/// It knows nested block comments, `"…"`, `#"…"#` and `"""` literals. Interpolated code counts as string.
struct CodeScanner {
    private var commentDepth = 0
    /// The closing delimiter of a literal that is open.
    private var closing: [UInt8]?

    /// The line as it is, but for comments and literals, which become blanks.
    mutating func codeOnly(in line: String) -> String {
        let bytes = Array(line.utf8)
        var code: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let rest = bytes[index...]
            if commentDepth > 0 {
                index += skipInsideComment(rest)
            } else if let closing {
                index += skipInsideLiteral(rest, closing: closing)
            } else if rest.starts(with: "//".utf8) {
                break
            } else if rest.starts(with: "/*".utf8) {
                commentDepth = 1
                index += 2
                code.append(.init(ascii: " "))
            } else if let length = openLiteral(rest) {
                index += length
                code.append(.init(ascii: " "))
            } else {
                code.append(bytes[index])
                index += 1
            }
        }
        // Only a literal of several lines survives the end of its line.
        if let closing, !closing.starts(with: CodeScanner.threeQuotes) { self.closing = nil }
        return String(decoding: code, as: UTF8.self)
    }

    private static let quote = UInt8(ascii: "\"")
    private static let threeQuotes = [quote, quote, quote]

    /// The length of the delimiter that opens a literal here, or nil if none does.
    private mutating func openLiteral(_ rest: ArraySlice<UInt8>) -> Int? {
        guard let first = rest.first, first == CodeScanner.quote || first == UInt8(ascii: "#") else {
            return nil
        }
        let hashes = rest.prefix { $0 == UInt8(ascii: "#") }
        let afterHashes = rest.dropFirst(hashes.count)
        guard afterHashes.first == CodeScanner.quote else { return nil }
        let quotes =
            afterHashes.starts(with: CodeScanner.threeQuotes) ? CodeScanner.threeQuotes : [CodeScanner.quote]
        closing = quotes + hashes
        return hashes.count + quotes.count
    }

    /// How many bytes to go on by.
    private mutating func skipInsideComment(_ rest: ArraySlice<UInt8>) -> Int {
        if rest.starts(with: "*/".utf8) {
            commentDepth -= 1
            return 2
        }
        if rest.starts(with: "/*".utf8) {
            commentDepth += 1
            return 2
        }
        return 1
    }

    /// How many bytes to go on by.
    private mutating func skipInsideLiteral(_ rest: ArraySlice<UInt8>, closing: [UInt8]) -> Int {
        if rest.starts(with: closing) {
            self.closing = nil
            return closing.count
        }
        let isEscape = rest.first == UInt8(ascii: "\\") && closing.last == CodeScanner.quote
        return isEscape ? 2 : 1
    }
}
