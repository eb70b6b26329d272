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

/// Numbers as text, appended to bytes that are going out.
extension [UInt8] {
    /// Appends `value` in decimal, without leading zeros.
    package mutating func appendDecimal(_ value: UInt64) {
        let start = count
        append(contentsOf: repeatElement(UInt8(ascii: "0"), count: value.decimalCount))
        var rest = value
        for place in (start..<count).reversed() {
            self[place] += UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// Appends the last `count` decimal digits of `value`, which is not negative.
    mutating func appendDigits(_ value: Int64, count: Int) {
        let end = self.count + count
        append(contentsOf: repeatElement(UInt8(ascii: "0"), count: count))
        var rest = value
        for place in 1...count {
            self[end - place] += UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// Appends `value` in lower-case hexadecimal, without leading zeros.
    mutating func appendHexadecimal(_ value: Int) {
        var shift = Swift.max(0, (Int.bitWidth - value.leadingZeroBitCount - 1) / 4 * 4)
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: value >> shift) & 15
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            shift -= 4
        }
    }
}
