/// The written form of durations: `250ms`, `20s`, `1m30s`, `2h`, or a number of seconds.
extension Duration {
    /// The longest duration that can be written, about a hundred years; sums of a few stay far from any overflow.
    package static let longestWritten = Duration.seconds(3_200_000_000)

    /// Reads whole numbers of `h`, `m`, `s` and `ms`, each once at most and in this order, or a plain number of
    /// seconds with at most nine decimals.
    package init(text: some StringProtocol) throws(MalformedValue) {
        let malformed = MalformedValue("a duration such as 250ms, 20s, 1m30s, 2h or a number of seconds")
        guard let duration = Duration.plainSeconds(text) ?? Duration.unitSum(text),
            duration <= .longestWritten
        else { throw malformed }
        self = duration
    }

    /// The shortest text that reads as this duration, which is not negative.
    package var text: String {
        let nanoseconds = nanoseconds
        guard nanoseconds % 1_000_000 == 0 else {
            let (seconds, fraction) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
            let digits = String(fraction + 1_000_000_000).dropFirst()
            return "\(seconds).\(String(digits.reversed().drop { $0 == "0" }.reversed()))"
        }
        var rest = nanoseconds / 1_000_000
        var text = ""
        for unit in Duration.units {
            let (count, remainder) = rest.quotientAndRemainder(dividingBy: unit.milliseconds)
            if count > 0 { text += "\(count)\(unit.name)" }
            rest = remainder
        }
        return text.isEmpty ? "0s" : text
    }

    private static let units: [(name: String, milliseconds: Int64)] = [
        ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    private static func plainSeconds(_ text: some StringProtocol) -> Duration? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let seconds = Int64(digits: first) else { return nil }
        guard parts.count == 2 else { return .seconds(seconds) }
        let decimals = parts[1]
        guard decimals.utf8.count <= 9,
            let fraction = Int64(digits: decimals + String(repeating: "0", count: 9 - decimals.utf8.count)),
            !decimals.isEmpty
        else { return nil }
        return .seconds(seconds) + .nanoseconds(fraction)
    }

    private static func unitSum(_ text: some StringProtocol) -> Duration? {
        var rest = text[...]
        var unitsLeft = units[...]
        var milliseconds: Int64 = 0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest[digits.endIndex...]
            let name = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest[name.endIndex...]
            guard let count = Int64(digits: digits),
                let at = unitsLeft.firstIndex(where: { $0.name == name }),
                case (let product, let tooBig) = count.multipliedReportingOverflow(
                    by: unitsLeft[at].milliseconds
                ),
                !tooBig,
                case (let sum, let overflow) = milliseconds.addingReportingOverflow(product), !overflow
            else { return nil }
            milliseconds = sum
            unitsLeft = unitsLeft[(at + 1)...]
        }
        // `Duration` itself holds any number of milliseconds that fits.
        return text.isEmpty ? nil : .milliseconds(milliseconds)
    }
}

extension FixedWidthInteger {
    /// The value of ASCII digits alone: no sign, no space, at least one, and nil if it does not fit.
    package init?(digits: some StringProtocol) {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self.init(digits, radix: 10)
    }
}
