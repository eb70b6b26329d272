/// A string, number or truth value that a value of a JSON document is compared with.
package enum JSONScalar: Equatable, Sendable {
    case string(String)
    case number(JSONNumber)
    case bool(Bool)

    /// Whether the bytes, one value of a document, are this one, however that is written.
    func isEqual(_ value: Span<UInt8>) -> Bool {
        switch self {
        case .string(let text):
            guard value.count >= 2, value[0] == UInt8(ascii: "\"") else { return false }
            return JSONString.isEqual(value.extracting(1..<(value.count - 1)), Array(text.utf8))
        case .number(let number):
            return JSONNumber(value) == number
        case .bool(let isTrue):
            return value.count > 0 && value[0] == UInt8(ascii: isTrue ? "t" : "f")
        }
    }
}

/// A JSON number of any size, exactly: `10`, `10.0` and `1e1` are equal, and nothing is rounded.
package struct JSONNumber: Hashable, Sendable {
    private var isNegative = false
    /// Without zeros at either end; none for zero.
    private var digits: [UInt8] = []
    /// The value is 0.DIGITS times ten to the power of this; what no computer could write is cut off.
    private var exponent = 0

    /// As it was written, for one that the configuration has; empty if that may not be shown.
    private(set) var text = ""

    /// The same number, as one that may not be shown.
    package var unshown: JSONNumber {
        var number = self
        number.text = ""
        return number
    }

    private static let largestExponent = 1_000_000_000

    /// Nil unless the text is a number in JSON's grammar.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard JSONSearch.isJSON(bytes.span), let last = bytes.last, isDigit(last) else { return nil }
        self.init(bytes.span)
        self.text = text
    }

    package static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        (left.isNegative, left.exponent) == (right.isNegative, right.exponent) && left.digits == right.digits
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(isNegative)
        hasher.combine(exponent)
        hasher.combine(digits)
    }

    /// Takes a value of a document; nil if that is no number.
    init?(_ value: Span<UInt8>) {
        guard value.count > 0, value[0] == UInt8(ascii: "-") || isDigit(value[0]) else { return nil }
        var at = 0
        var isFraction = false
        isNegative = value[0] == UInt8(ascii: "-")
        if isNegative { at += 1 }
        while at < value.count, isDigit(value[at]) || value[at] == UInt8(ascii: ".") {
            if value[at] == UInt8(ascii: ".") {
                isFraction = true
            } else if digits.isEmpty, value[at] == UInt8(ascii: "0") {
                if isFraction { exponent -= 1 }
            } else {
                digits.append(value[at])
                if !isFraction { exponent += 1 }
            }
            at += 1
        }
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        guard !digits.isEmpty else {
            (isNegative, exponent) = (false, 0)
            return
        }
        if at < value.count { exponent += JSONNumber.power(value.extracting((at + 1)...)) }
    }

    private static func power(_ text: Span<UInt8>) -> Int {
        var power = 0
        for index in text.indices where isDigit(text[index]) {
            power = min(power * 10 + Int(text[index] - UInt8(ascii: "0")), largestExponent)
        }
        return text.count > 0 && text[0] == UInt8(ascii: "-") ? -power : power
    }
}

private func isDigit(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
}
