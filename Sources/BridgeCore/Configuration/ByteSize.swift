/// The written form of sizes: `64KiB`, `16MiB`, `1GiB`, or a number of bytes.
package struct ByteSize: Equatable, Sendable {
    package var bytes: Int

    package init(bytes: Int) {
        self.bytes = bytes
    }

    /// Reads a whole number with one unit at most.
    package init(text: some StringProtocol) throws(MalformedValue) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let name = text[digits.endIndex...]
        guard let count = Int(digits: digits), let unit = ByteSize.units.first(where: { $0.name == name }),
            case (let bytes, let overflow) = count.multipliedReportingOverflow(by: unit.bytes), !overflow
        else { throw MalformedValue("a size such as 64KiB, 16MiB or a number of bytes") }
        self.bytes = bytes
    }

    /// The text in the largest unit that divides it; reads as this size if it is not negative.
    package var text: String {
        let unit = ByteSize.units.first { bytes != 0 && bytes % $0.bytes == 0 }
        return unit.map { "\(bytes / $0.bytes)\($0.name)" } ?? String(bytes)
    }

    private static let units: [(name: String, bytes: Int)] = [
        ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("", 1),
    ]
}
