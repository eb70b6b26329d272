/// The standard Base64 of RFC 4648 §4, with padding.
///
/// Written here because every binary event passes it: the library's makes two copies more, through `Data`.
package enum Base64 {
    /// The length of the encoded form of `count` bytes.
    package static func encodedCount(_ count: Int) -> Int {
        (count + 2) / 3 * 4
    }

    package static func append(_ payload: [UInt8], to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(UInt8(ascii: "="), count: encodedCount(payload.count)))
        var target = bytes.mutableSpan
        let source = payload.span
        let alphabet = alphabet.span
        var position = start
        var index = 0
        while index + 2 < source.count {
            let group = Int(source[index]) << 16 | Int(source[index + 1]) << 8 | Int(source[index + 2])
            target[position] = alphabet[group >> 18]
            target[position + 1] = alphabet[group >> 12 & 63]
            target[position + 2] = alphabet[group >> 6 & 63]
            target[position + 3] = alphabet[group & 63]
            index += 3
            position += 4
        }
        guard index < source.count else { return }
        let second = index + 1 < source.count ? Int(source[index + 1]) : 0
        let group = Int(source[index]) << 8 | second
        target[position] = alphabet[group >> 10]
        target[position + 1] = alphabet[group >> 4 & 63]
        if index + 1 < source.count { target[position + 2] = alphabet[group << 2 & 63] }
    }
}

private let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
