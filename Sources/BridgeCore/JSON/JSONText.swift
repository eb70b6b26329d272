/// A text as a JSON string (RFC 8259 §7), of which the length is known before it is written.
///
/// Only what must be escaped is, so every other character stays as it is, and none is lost.
struct JSONText {
    private let utf8: [UInt8]
    /// How many bytes the escapes add.
    private let added: Int

    /// Takes a text, which must be valid UTF-8.
    init(_ utf8: [UInt8]) {
        self.utf8 = utf8
        added = JSONText.mayNeedEscapes(utf8.span) ? JSONText.addedBytes(utf8) : 0
    }

    /// The number of bytes that `append` appends.
    var encodedCount: Int { utf8.count + added + 2 }

    func append(to output: inout OutputSpan<UInt8>) {
        output.append(quote)
        if added == 0 {
            output.append(utf8)
        } else {
            appendEscaped(to: &output)
        }
        output.append(quote)
    }

    private func appendEscaped(to output: inout OutputSpan<UInt8>) {
        let source = utf8.span
        for index in source.indices {
            let byte = source[index]
            switch JSONText.escape(of: byte) {
            case .none:
                output.append(byte)
            case .short(let letter):
                output.append(backslash)
                output.append(letter)
            case .hexadecimal:
                output.append(backslash)
                output.append(UInt8(ascii: "u"))
                output.append(UInt8(ascii: "0"))
                output.append(UInt8(ascii: "0"))
                output.append(UInt8(ascii: "0") + byte >> 4)
                output.append(JSONText.digit(byte & 15))
            }
        }
    }

    private enum Escape {
        case none
        /// A backslash and this letter.
        case short(UInt8)
        case hexadecimal
    }

    private static func escape(of byte: UInt8) -> Escape {
        switch byte {
        case quote, backslash: .short(byte)
        case 0x0A: .short(UInt8(ascii: "n"))
        case 0x0D: .short(UInt8(ascii: "r"))
        case 0x09: .short(UInt8(ascii: "t"))
        case 0..<0x20, 0x7F: .hexadecimal
        default: .none
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// Looks at every byte, so that the compiler compares many at once.
    static func mayNeedEscapes(_ source: Span<UInt8>) -> Bool {
        var found: UInt8 = 0
        for index in source.indices {
            let byte = source[index]
            found |= byte < 0x20 || byte == quote || byte == backslash || byte == 0x7F ? 1 : 0
        }
        return found != 0
    }

    private static func addedBytes(_ utf8: [UInt8]) -> Int {
        var count = 0
        for byte in utf8 {
            switch escape(of: byte) {
            case .none: break
            case .short: count += 1
            case .hexadecimal: count += 5
            }
        }
        return count
    }
}

private let quote = UInt8(ascii: "\"")
private let backslash = UInt8(ascii: "\\")
