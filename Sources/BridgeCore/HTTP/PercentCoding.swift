/// Percent-decoding (RFC 3986 §2.1), strict: what is not well formed is refused, never repaired.
enum PercentCoding {
    /// Why an encoded text has no decoded form.
    enum Failure: String, Error {
        case escape = "a % without two hexadecimal digits"
        case null = "a NUL character"
        case utf8 = "not UTF-8"
    }

    /// The text that `bytes` encode; with `plusIsSpace`, as in queries, `+` stands for a space.
    static func decode(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) throws(Failure) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexValue),
                    let low = rest.popFirst().flatMap(hexValue)
                else { throw .escape }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace:
                decoded.append(UInt8(ascii: " "))
            default:
                decoded.append(byte)
            }
        }
        guard !decoded.contains(0) else { throw .null }
        guard let text = String(validating: decoded, as: UTF8.self) else { throw .utf8 }
        return text
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
