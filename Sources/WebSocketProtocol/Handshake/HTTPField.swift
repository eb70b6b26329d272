/// One header field line (RFC 9110 §5).
package struct HTTPField: Equatable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the name is this one, in any case.
    func isNamed(_ other: String) -> Bool {
        name.utf8.elementsEqual(other.utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
    }

    /// RFC 9110 §5.5: no line ends, no NUL, no other control character but the tab.
    var hasValidValue: Bool {
        value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    }
}

extension UInt8 {
    /// The byte in lower case, if it is an ASCII letter.
    var lowercasedASCII: UInt8 {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): self | 0x20
        default: self
        }
    }

    /// RFC 9110 §5.6.2: what a token is made of.
    var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}

extension StringProtocol {
    /// RFC 9110 §5.6.2.
    package var isToken: Bool {
        !isEmpty && utf8.allSatisfy { $0.isTokenCharacter }
    }

    /// Without the spaces and tabs around it (RFC 9110 §5.6.3).
    var withoutSurroundingSpace: String {
        let bytes = utf8.drop { $0 == 0x20 || $0 == 0x09 }
        let kept = bytes.reversed().drop { $0 == 0x20 || $0 == 0x09 }
        return String(decoding: kept.reversed(), as: UTF8.self)
    }

    /// In lower case as far as it is ASCII.
    package var lowercasedASCII: String {
        String(decoding: utf8.map(\.lowercasedASCII), as: UTF8.self)
    }
}
