/// Random UUIDs (version 4, RFC 9562 §5.4) as text.
package enum UUIDText {
    private static let hexadecimal = Array("0123456789abcdef".utf8)

    package static func append(to output: inout [UInt8], using random: inout some RandomNumberGenerator) {
        var high: UInt64 = random.next()
        var low: UInt64 = random.next()
        high = high & ~0xF000 | 0x4000
        low = low & ~(3 << 62) | 2 << 62
        for index in 0..<16 {
            if [4, 6, 8, 10].contains(index) { output.append(UInt8(ascii: "-")) }
            let half = index < 8 ? high : low
            let byte = UInt8(truncatingIfNeeded: half >> UInt64(56 - index % 8 * 8))
            output.append(hexadecimal[Int(byte >> 4)])
            output.append(hexadecimal[Int(byte & 15)])
        }
    }

    /// One in quotes.
    package static func json(using random: inout some RandomNumberGenerator) -> [UInt8] {
        var text = [UInt8(ascii: "\"")]
        append(to: &text, using: &random)
        return text + [UInt8(ascii: "\"")]
    }
}
