import BridgeCore
import Testing

private let time = WallTime(millisecondsSince1970: 1_796_025_600_123)

/// The line of a record, without its line feed.
private func line(_ format: LogFormat, _ record: LogRecord) -> String {
    let text = String(decoding: format.line(record, at: time), as: UTF8.self)
    #expect(text.hasSuffix("\n"))
    return String(text.dropLast())
}

/// What stands behind `key=` when a field has this value.
private func written(_ value: LogValue) -> String {
    // By scalars, since the first one of a value can join the equals sign to one character.
    let scalars = line(.text, LogRecord(.info, "word", ["key": value])).unicodeScalars
    return String(scalars.dropFirst(40))
}

/// The characters at which some reader or other ends a line.
private let lineEnds = "\n\r\u{0B}\u{0C}\u{1C}\u{1D}\u{1E}\u{85}\u{2028}\u{2029}"

@Suite struct `A log record as text` {
    @Test func `has time, level, message and fields in a line`() {
        let record = LogRecord(.info, "listening", ["address": "127.0.0.1:8080", "tokens": 2, "tls": false])
        #expect(
            line(.text, record)
                == "2026-11-30T08:00:00.123Z INFO  listening address=127.0.0.1:8080 tokens=2 tls=false"
        )
    }

    @Test(arguments: zip(LogLevel.allCases, ["DEBUG word", "INFO  word", "WARN  word", "ERROR word"]))
    func `has its message in the same column for every level`(level: LogLevel, expected: String) {
        #expect(line(.text, LogRecord(level, "word")) == "2026-11-30T08:00:00.123Z \(expected)")
    }

    @Test(arguments: [
        ("plain", "plain"), ("wss://example.org/feed", "wss://example.org/feed"), ("é日本🎉", "é日本🎉"),
        ("", #""""#), ("two words", #""two words""#), ("a=b", #""a=b""#), ("\"", #""\"""#), ("\\", #""\\""#),
        ("a\tb", #""a\tb""#), ("a\r\nb", #""a\r\nb""#), ("\u{0}", #""\u0000""#), ("\u{7F}", #""\u007f""#),
        ("\u{1B}[31m", #""\u001b[31m""#), ("\u{9B}31m", #""\u009b31m""#), ("a\u{2028}b", #""a\u2028b""#),
        ("a\u{202E}b", #""a\u202eb""#), ("a\u{200B}b", #""a\u200bb""#), ("a\u{A0}b", "\"a\u{A0}b\""),
        ("\u{E0041}", #""\udb40\udc41""#), ("é\u{FEFF}", #""é\ufeff""#),
    ])
    func `quotes a value that could be mistaken`(value: String, expected: String) {
        #expect(written(.text(value)) == expected)
    }

    @Test(
        arguments: [
            (.integer(-7), "-7"), (.flag(true), "true"), (.milliseconds(.seconds(2)), "2000"),
            (.milliseconds(.microseconds(1250)), "1.25"), ("\(1 + 1) words", #""2 words""#),
        ] as [(LogValue, String)]
    )
    func `writes numbers, flags and durations plainly`(value: LogValue, expected: String) {
        #expect(written(value) == expected)
    }
}

@Suite struct `A log record as JSON` {
    @Test func `is an object with the fields as its members`() {
        let record = LogRecord(
            .warning,
            "closed",
            [
                "reason": "say \"bye\"\n", "code": 1011, "clean": true,
                "delayMs": .milliseconds(.milliseconds(5)),
            ]
        )
        let expected =
            #"{"time":"2026-11-30T08:00:00.123Z","level":"warning","message":"closed","#
            + #""reason":"say \"bye\"\n","code":1011,"clean":true,"delayMs":5}"#
        #expect(line(.json, record) == expected)
    }

    @Test func `escapes what is hidden and keeps what is visible`() {
        let record = LogRecord(.info, "word", ["key": "é\u{202E}\u{85}\u{E0041}"])
        #expect(line(.json, record).hasSuffix(#""key":"é\u202e\u0085\udb40\udc41"}"#))
    }
}

@Suite struct `A log record` {
    @Test(arguments: LogFormat.allCases, lineEnds.unicodeScalars.map(String.init))
    func `is one line, whatever a value holds`(format: LogFormat, lineEnd: String) {
        let text = line(format, LogRecord(.info, "word", ["key": "a\(lineEnd)b"]))
        #expect(!text.unicodeScalars.contains { lineEnds.unicodeScalars.contains($0) })
    }

    @Test(arguments: ["x", "é", "\u{301}", "🎉"], 0...4)
    func `cuts a long value at a character's end`(filler: String, offset: Int) {
        let value = String(repeating: ".", count: offset) + String(repeating: filler, count: 2000)
        let shown = written(.text(value))
        #expect(shown.hasSuffix("\u{2026}"))
        #expect(value.unicodeScalars.starts(with: shown.unicodeScalars.dropLast()))
        #expect((1020...1024).contains(shown.utf8.count - "\u{2026}".utf8.count))
    }

    @Test func `leaves a value of 1024 bytes whole`() {
        let value = String(repeating: "x", count: 1024)
        #expect(written(.text(value)) == value)
    }
}
