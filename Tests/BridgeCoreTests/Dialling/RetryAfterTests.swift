import Testing
import WebSocketProtocol

@testable import BridgeCore

@Suite struct `Retry-After` {
    /// 1994-11-06T08:49:37Z, the standard's example.
    private static let example: Int64 = 784_111_777
    private static let now = WallTime(millisecondsSince1970: example * 1000 - 90_000)

    @Test(
        arguments: [
            ("0", Duration.zero), ("120", .seconds(120)), ("007", .seconds(7)),
            ("99999999999999999999", .seconds(Int64(Int32.max))),
            (String(repeating: "9", count: 4000), .seconds(Int64(Int32.max))), ("-5", nil), ("+5", nil),
            ("1.5", nil),
            ("", nil), (" 5", nil), ("5 ", nil), ("٣", nil), ("soon", nil), ("0x10", nil),
            (String(repeating: "x", count: 4000), nil),
        ] as [(String, Duration?)]
    )
    func `may be seconds`(value: String, delay: Duration?) {
        #expect(RetryAfterField(value).delay(at: Self.now) == delay)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func `may be a date in each of the three forms`(value: String) {
        #expect(RetryAfterField(value).delay(at: Self.now) == .seconds(90))
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0100",
        "Sun 06 Nov 1994 08:49:37 GMT", "Xxx, 06 Nov 1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 08:49 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov 08:49:37 GMT", "Sun Nov 6 08:49:37 94", "Sun, Nov  6 08:49:37 1994",
        "Sun Nov 06 1994",
        "1994-11-06T08:49:37Z", "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT x",
    ])
    func `is ignored when it is no date of HTTP`(value: String) {
        #expect(RetryAfterField(value).delay(at: Self.now) == nil)
    }

    @Test func `in the past asks for nothing`() {
        #expect(RetryAfterField("Sun, 06 Nov 1994 08:00:00 GMT").delay(at: Self.now) == .zero)
    }

    @Test func `counts from the peer's own date, whatever our clock says`() {
        let field = RetryAfterField("Sun, 06 Nov 1994 08:49:37 GMT", date: "Sun, 06 Nov 1994 08:49:07 GMT")
        let times = [0, 784_111_777_000, 4_000_000_000_000].map { WallTime(millisecondsSince1970: $0) }
        #expect(times.map { field.delay(at: $0) } == [.seconds(30), .seconds(30), .seconds(30)])
        let broken = RetryAfterField("Sun, 06 Nov 1994 08:49:37 GMT", date: "today")
        #expect(broken.delay(at: Self.now) == .seconds(90))
    }

    @Test(
        arguments: [
            ("94", 2026, 1994), ("26", 2026, 2026), ("76", 2026, 2076), ("77", 2026, 1977),
            ("00", 1994, 2000),
            ("44", 1994, 2044), ("45", 1994, 1945), ("00", 2099, 2100), ("99", 2001, 1999),
            ("70", 1970, 1970),
        ] as [(String, Int64, Int64)]
    )
    func `with two digits of a year means the one that is at most 50 years ahead`(
        digits: String,
        year: Int64,
        expected: Int64
    ) throws {
        let day = try #require(CivilDate(year: year, month: 6, day: 1)).daysSince1970
        let meant = try #require(CivilDate(year: expected, month: 11, day: 6)).daysSince1970
        let now = WallTime(millisecondsSince1970: day * 86_400_000)
        let time = WallTime(httpDate: "Sunday, 06-Nov-\(digits) 00:00:00 GMT", now: now)
        #expect(time?.millisecondsSince1970 == meant * 86_400_000)
    }

    @Test func `takes a leap second for the one before`() {
        let now = WallTime(millisecondsSince1970: 0)
        let leap = WallTime(httpDate: "Sat, 31 Dec 2016 23:59:60 GMT", now: now)
        #expect(leap != nil)
        #expect(leap == WallTime(httpDate: "Sat, 31 Dec 2016 23:59:59 GMT", now: now))
    }
}
