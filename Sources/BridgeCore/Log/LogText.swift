/// What keeps a value, which may be a peer's words, within its field.
extension String {
    /// A longer value says nothing more to a reader and fills a disk.
    private static let longestLogValue = 1024

    /// At most 1024 bytes of it, and an ellipsis where it was cut.
    var boundedForLog: String {
        guard utf8.count > String.longestLogValue else { return self }
        // Scalars, not characters: one character can be made of any number of scalars.
        var bounded = ""
        var left = String.longestLogValue
        for scalar in unicodeScalars {
            left -= UTF8.width(scalar)
            guard left >= 0 else { break }
            bounded.unicodeScalars.append(scalar)
        }
        return bounded + "\u{2026}"
    }
}

extension Unicode.Scalar {
    /// Whether a value may hold it without quotes.
    var isUnmistakable: Bool {
        switch self {
        case "\"", "=", "\\", " ", "\u{7F}": false
        case _ where isASCII: value > 0x20
        default: !isHidden && properties.generalCategory != .spaceSeparator
        }
    }

    /// Whether it ends lines, steers terminals or reorders and hides text, and lies beyond ASCII.
    fileprivate var isHidden: Bool {
        guard !isASCII else { return false }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}

extension [UInt8] {
    /// A line whose JSON strings, in which alone it has characters beyond ASCII or could have them hidden,
    /// show the hidden ones as escapes (RFC 8259 §7).
    func withHiddenCharactersEscaped() -> [UInt8] {
        guard contains(where: { $0 >= 0x80 }) else { return self }
        var bytes: [UInt8] = []
        for scalar in String(decoding: self, as: UTF8.self).unicodeScalars {
            if scalar.isHidden {
                for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                    bytes.append(contentsOf: "\\u".utf8)
                    bytes.append(contentsOf: String(UInt32(unit) + 0x1_0000, radix: 16).utf8.dropFirst())
                }
            } else {
                bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
        return bytes
    }
}
