/// Text and numbers, appended to bytes that are going out; the room must be there.
extension OutputSpan<UInt8> {
    mutating func append(_ bytes: [UInt8]) {
        // A plain loop over a span becomes one block copy.
        let source = bytes.span
        for index in source.indices { append(source[index]) }
    }

    /// Appends `value` in decimal, without leading zeros.
    mutating func appendDecimal(_ value: UInt64) {
        appendDigits(value, count: value.decimalCount)
    }

    /// Appends the last `digits` decimal digits of `value`.
    mutating func appendDigits(_ value: UInt64, count digits: Int) {
        append(repeating: UInt8(ascii: "0"), count: digits)
        let end = count
        var written = mutableSpan
        var rest = value
        for place in 1...digits {
            written[end - place] += UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// Appends `value` in lower-case hexadecimal, without leading zeros.
    mutating func appendHexadecimal(_ value: Int) {
        for place in (0..<value.hexadecimalCount).reversed() {
            let digit = UInt8(truncatingIfNeeded: value >> (4 * place)) & 15
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}

extension UInt64 {
    /// The number of its decimal digits.
    var decimalCount: Int {
        var count = 1
        var rest = self
        while rest >= 10 {
            rest /= 10
            count += 1
        }
        return count
    }
}

extension Int {
    /// The number of its hexadecimal digits, if it is not negative.
    var hexadecimalCount: Int { Swift.max(1, (Int.bitWidth - leadingZeroBitCount + 3) / 4) }
}
