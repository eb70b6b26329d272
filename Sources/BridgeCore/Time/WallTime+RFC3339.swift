extension WallTime {
    /// The first and the last moment that RFC 3339 can write: its years have four digits.
    package static let earliestText = WallTime(millisecondsSince1970: -62_167_219_200_000)
    package static let latestText = WallTime(millisecondsSince1970: 253_402_300_799_999)

    /// RFC 3339 in UTC with milliseconds, as in `2026-11-30T07:52:00.123Z`.
    package var text: String {
        var bytes: [UInt8] = []
        appendText(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends `text`, always 24 bytes.
    ///
    /// A time outside the years 0000 to 9999 is written as the nearest one inside.
    package func appendText(to bytes: inout [UInt8]) {
        bytes.append(addingCapacity: 24) { output in
            let time = min(max(self, .earliestText), .latestText).millisecondsSince1970
            let day = (time - WallTime.earliestText.millisecondsSince1970) / millisecondsPerDay + firstDay
            let date = CivilDate(daysSince1970: day)
            let clock = time - day * millisecondsPerDay
            output.append(date.year, digits: 4, before: "-")
            output.append(date.month, digits: 2, before: "-")
            output.append(date.day, digits: 2, before: "T")
            output.append(clock / 3_600_000, digits: 2, before: ":")
            output.append(clock / 60_000 % 60, digits: 2, before: ":")
            output.append(clock / 1000 % 60, digits: 2, before: ".")
            output.append(clock % 1000, digits: 3, before: "Z")
        }
    }

    /// Reads a date-time of RFC 3339 §5.6; nil when `text` is not exactly one.
    ///
    /// Any offset and any number of decimals will do; what is finer than a millisecond is cut off. A leap
    /// second is the second after it, which is how clocks that count milliseconds since 1970 see it.
    package init?(text: some StringProtocol) {
        var reader = DateTimeReader(text.utf8)
        guard let time = reader.dateTime() else { return nil }
        self = time
    }
}

private let millisecondsPerDay: Int64 = 86_400_000
/// The day of `WallTime.earliestText`, 0000-01-01, since 1970-01-01.
private let firstDay: Int64 = -719_528

extension OutputSpan<UInt8> {
    /// Appends one part of a date-time, which is not negative, and what separates it from the next.
    fileprivate mutating func append(_ part: Int64, digits: Int, before separator: Unicode.Scalar) {
        appendDigits(UInt64(part), count: digits)
        append(UInt8(ascii: separator))
    }
}

/// Reads the parts of a date-time from left to right.
private struct DateTimeReader<Text: Collection<UInt8>> {
    private var rest: Text.SubSequence

    init(_ text: Text) {
        rest = text[...]
    }

    mutating func dateTime() -> WallTime? {
        guard let year = digits(4), skip("-"), let month = digits(2), skip("-"), let day = digits(2),
            let date = CivilDate(year: year, month: month, day: day), skip("T", or: "t"),
            let hour = digits(2), hour < 24, skip(":"), let minute = digits(2), minute < 60, skip(":"),
            let second = digits(2), second <= 60, let millisecond = fraction(), let offset = offset(),
            rest.isEmpty
        else { return nil }
        let minutes = date.daysSince1970 * 1440 + hour * 60 + minute - offset
        // RFC 3339 §5.7: a leap second comes at the end of a day in UTC only.
        let isLastOfDay = (minutes + 1) % 1440 == 0
        guard second < 60 || isLastOfDay else { return nil }
        return WallTime(millisecondsSince1970: minutes * 60_000 + second * 1000 + millisecond)
    }

    private mutating func digits(_ count: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    private mutating func digit() -> Int64? {
        guard let byte = rest.first, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
        rest.removeFirst()
        return Int64(byte - UInt8(ascii: "0"))
    }

    private mutating func skip(_ byte: Unicode.Scalar, or other: Unicode.Scalar? = nil) -> Bool {
        guard let first = rest.first, first == UInt8(ascii: byte) || first == other.map(UInt8.init(ascii:))
        else { return false }
        rest.removeFirst()
        return true
    }

    /// Milliseconds; 0 when there is no fraction, nil when there is a point without a digit.
    private mutating func fraction() -> Int64? {
        guard skip(".") else { return 0 }
        guard var value = digit() else { return nil }
        var count = 1
        while let digit = digit() {
            if count < 3 {
                value = value * 10 + digit
                count += 1
            }
        }
        return [100, 10, 1][count - 1] * value
    }

    /// Minutes east of UTC.
    private mutating func offset() -> Int64? {
        if skip("Z", or: "z") { return 0 }
        let isEast = rest.first == UInt8(ascii: "+")
        guard skip("+", or: "-"), let hours = digits(2), hours < 24, skip(":"), let minutes = digits(2),
            minutes < 60
        else { return nil }
        return (isEast ? 1 : -1) * (hours * 60 + minutes)
    }
}
