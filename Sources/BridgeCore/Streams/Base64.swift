/// The standard Base64 of RFC 4648 §4, with padding.
///
/// Written here because every binary event passes it: the library's makes two copies more, through `Data`.
package enum Base64 {
    /// The length of the encoded form of `count` bytes.
    package static func encodedCount(_ count: Int) -> Int {
        (count + 2) / 3 * 4
    }

    package static func append(_ payload: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(addingCapacity: encodedCount(payload.count)) { append(payload, to: &$0) }
    }

    static func append(_ payload: [UInt8], to output: inout OutputSpan<UInt8>) {
        let source = payload.span
        let digits = alphabet.span
        var index = 0
        while index + 2 < source.count {
            let group = Int(source[index]) << 16 | Int(source[index + 1]) << 8 | Int(source[index + 2])
            output.append(digits[group >> 18])
            output.append(digits[group >> 12 & 63])
            output.append(digits[group >> 6 & 63])
            output.append(digits[group & 63])
            index += 3
        }
        guard index < source.count else { return }
        let isLast = index + 1 == source.count
        let group = Int(source[index]) << 8 | (isLast ? 0 : Int(source[index + 1]))
        output.append(digits[group >> 10])
        output.append(digits[group >> 4 & 63])
        output.append(isLast ? padding : digits[group << 2 & 63])
        output.append(padding)
    }
}

private let padding = UInt8(ascii: "=")
private let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
