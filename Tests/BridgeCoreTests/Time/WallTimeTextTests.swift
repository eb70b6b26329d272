import BridgeCore
import Testing
import WebSocketTestSupport

@Suite struct `Wall time as text` {
    @Test(arguments: [
        ("1970-01-01T00:00:00.000Z", Int64(0)),
        ("2026-11-30T07:52:00.123Z", 1_796_025_120_123),
        ("2001-09-09T01:46:40.000Z", 1_000_000_000_000),
        ("2000-02-29T23:59:59.999Z", 951_868_799_999),
        ("2024-02-29T12:00:00.000Z", 1_709_208_000_000),
        ("2100-03-01T00:00:00.000Z", 4_107_542_400_000),
        ("1969-12-31T23:59:59.999Z", -1),
        ("1900-03-01T00:00:00.000Z", -2_203_891_200_000),
        ("1600-02-29T00:00:00.000Z", -11_670_998_400_000),
        ("0000-01-01T00:00:00.000Z", -62_167_219_200_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ])
    func `milliseconds and RFC 3339 are two forms of the same`(text: String, milliseconds: Int64) {
        let time = WallTime(millisecondsSince1970: milliseconds)
        #expect(time.text == text)
        #expect(WallTime(text: text) == time)
    }

    @Test(arguments: [(Int64.min, "0000-01-01T00:00:00.000Z"), (.max, "9999-12-31T23:59:59.999Z")])
    func `what four digits cannot write is written as the nearest year`(milliseconds: Int64, text: String) {
        #expect(WallTime(millisecondsSince1970: milliseconds).text == text)
    }

    @Test func `every day of 400 years is the day after the one before`() {
        let day: Int64 = 86_400_000
        var (year, month, date) = (1800, 1, 1)
        var time = WallTime(millisecondsSince1970: -5_364_662_400_000)
        while year < 2200 {
            let expected = "\(year)-\(twoDigits(month))-\(twoDigits(date))T00:00:00.000Z"
            guard time.text == expected, WallTime(text: expected) == time else {
                Issue.record("\(time.millisecondsSince1970) is \(time.text), not \(expected)")
                return
            }
            time.millisecondsSince1970 += day
            (year, month, date) = dayAfter(year, month, date)
        }
    }

    @Test func `random times survive the way to text and back`() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let range =
                WallTime.earliestText.millisecondsSince1970...WallTime.latestText.millisecondsSince1970
            let time = WallTime(millisecondsSince1970: .random(in: range, using: &random))
            #expect(WallTime(text: time.text) == time)
        }
    }

    @Test(arguments: [
        ("2026-11-30T07:52:00Z", "2026-11-30T07:52:00.000Z"),
        ("2026-11-30t07:52:00z", "2026-11-30T07:52:00.000Z"),
        ("2026-11-30T07:52:00.1Z", "2026-11-30T07:52:00.100Z"),
        ("2026-11-30T07:52:00.12Z", "2026-11-30T07:52:00.120Z"),
        ("2026-11-30T07:52:00.123999999999999999999Z", "2026-11-30T07:52:00.123Z"),
        ("2026-11-30T07:52:00+01:30", "2026-11-30T06:22:00.000Z"),
        ("2026-11-30T23:00:00-02:00", "2026-12-01T01:00:00.000Z"),
        ("2026-11-30T07:52:00-00:00", "2026-11-30T07:52:00.000Z"),
        ("1996-12-19T16:39:57-08:00", "1996-12-20T00:39:57.000Z"),
        ("1990-12-31T23:59:60Z", "1991-01-01T00:00:00.000Z"),
        ("1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00.000Z"),
    ])
    func `every form of RFC 3339 is read`(text: String, expected: String) {
        #expect(WallTime(text: text)?.text == expected)
    }

    @Test(arguments: [
        "", "2026", "2026-11-30", "2026-11-30T07:52:00", "2026-11-30T07:52Z", "2026-11-30 07:52:00Z",
        "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z",
        "2026-04-31T00:00:00Z", "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
        "2026-11-30T24:00:00Z", "2026-11-30T07:60:00Z", "2026-11-30T07:52:61Z", "2026-11-30T07:52:60Z",
        "2026-11-30T07:52:00.Z", "2026-11-30T07:52:00,1Z", "2026-11-30T07:52:00+24:00",
        "2026-11-30T07:52:00+01:60", "2026-11-30T07:52:00+0100", "2026-11-30T07:52:00 01:00",
        "2026-11-30T07:52:00Z ", " 2026-11-30T07:52:00Z", "2026-11-30T07:52:00ZZ", "+026-11-30T07:52:00Z",
        "02026-11-30T07:52:00Z", "2026-1-30T07:52:00Z", "２026-11-30T07:52:00Z", "2026-11-30T07:52:00Z\0",
        "-2026-11-30T07:52:00Z", "2026-11-30T07:52:-1Z",
    ])
    func `what is not RFC 3339 is refused`(text: String) {
        #expect(WallTime(text: text) == nil)
    }

    @Test(arguments: [
        (Int64(1000), Duration.milliseconds(250), Int64(750)), (0, .seconds(-1), 1000),
        (.min, .seconds(1), .min), (.max, .seconds(-1), .max),
    ])
    func `a time less a duration saturates`(time: Int64, duration: Duration, expected: Int64) {
        let difference = WallTime(millisecondsSince1970: time) - duration
        #expect(difference.millisecondsSince1970 == expected)
    }

    private func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    private func dayAfter(_ year: Int, _ month: Int, _ day: Int) -> (Int, Int, Int) {
        let isLeap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        if day < days[month - 1] { return (year, month, day + 1) }
        return month < 12 ? (year, month + 1, 1) : (year + 1, 1, 1)
    }
}
