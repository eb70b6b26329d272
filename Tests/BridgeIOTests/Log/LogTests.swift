import BridgeCore
import BridgeIO
import Glibc
import Testing

/// A pipe whose reading end does not block.
@MainActor private final class Pipe {
    private(set) var reader: Int32
    private(set) var writer: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe Glibc.pipe(&ends) == 0)
        (reader, writer) = (ends[0], ends[1])
        try #require(fcntl(reader, F_SETFL, O_NONBLOCK) == 0)
    }

    /// All that is in the pipe.
    func read() -> String {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = unsafe Glibc.read(reader, &buffer, buffer.count), count > 0 {
            text += buffer[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Writes until the pipe is full, and says how much that took.
    func fill() throws -> Int {
        try #require(fcntl(writer, F_SETFL, O_NONBLOCK) == 0)
        let buffer = [UInt8](repeating: UInt8(ascii: "."), count: 4096)
        var total = 0
        while case let count = unsafe Glibc.write(writer, buffer, buffer.count), count > 0 { total += count }
        try #require(fcntl(writer, F_SETFL, 0) == 0)
        return total
    }

    func discard(_ count: Int) -> Int {
        var buffer = [UInt8](repeating: 0, count: count)
        return unsafe Glibc.read(reader, &buffer, count)
    }

    func closeReader() {
        close(reader)
        reader = -1
    }

    deinit {
        close(reader)
        close(writer)
    }
}

@MainActor @Suite struct `The log` {
    private let pipe: Pipe

    init() throws {
        pipe = try Pipe()
    }

    private func log(_ level: LogLevel = .info, _ format: LogFormat = .text) -> Log {
        var settings = LogSettings()
        settings.level = level
        settings.format = format
        return Log(settings: settings, descriptor: pipe.writer) { WallTime(millisecondsSince1970: 0) }
    }

    @Test func `writes a record a line`() {
        let log = log()
        log.info("listening", ["address": "127.0.0.1:8080"])
        log.error("broken")
        let start = "1970-01-01T00:00:00.000Z"
        #expect(pipe.read() == "\(start) INFO  listening address=127.0.0.1:8080\n\(start) ERROR broken\n")
    }

    @Test func `writes JSON when told to`() {
        log(.info, .json).warning("odd", ["count": 1])
        #expect(
            pipe.read()
                == #"{"time":"1970-01-01T00:00:00.000Z","level":"warning","message":"odd","count":1}"# + "\n"
        )
    }

    @Test(arguments: LogLevel.allCases)
    func `writes from its level on and makes no fields below`(level: LogLevel) {
        let log = log(level)
        var made = 0
        func fields() -> LogFields {
            made += 1
            return [:]
        }
        log.debug("d", fields())
        log.info("i", fields())
        log.warning("w", fields())
        log.error("e", fields())
        for each in LogLevel.allCases { log.write(LogRecord(each, "again")) }
        let expected = LogLevel.allCases.count { $0 >= level }
        #expect(made == expected)
        #expect(pipe.read().split(separator: "\n").count == 2 * expected)
    }

    @Test func `drops what nobody reads instead of waiting, and says so later`() throws {
        let log = log()
        let filled = try pipe.fill()
        log.info("first")
        log.info("second")
        #expect(pipe.read().utf8.count == filled)
        log.info("third")
        let lines = pipe.read().split(separator: "\n").map { $0.dropFirst(25) }
        #expect(lines == [#"WARN  log records dropped count=2"#, "INFO  third"].map { $0[...] })
    }

    @Test func `begins a new line after one that was cut off`() throws {
        let log = log(.info, .json)
        let filled = try pipe.fill()
        #expect(pipe.discard(4096) == 4096)
        // Two pieces, of which the pipe takes one.
        let long = LogValue.text(String(repeating: "\u{1}", count: 1024))
        log.info("long", ["key": long])
        #expect(pipe.read().utf8.count == filled)
        log.info("next")
        let lines = pipe.read().split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 4)
        #expect(lines.first == "")
        #expect(lines.dropFirst().dropLast().allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
    }

    @Test func `survives a reader that is gone`() {
        let log = log()
        pipe.closeReader()
        log.info("to nobody")
        log.info("to nobody")
    }

    @Test func `writes nothing when its descriptor was closed at the start`() throws {
        let closed = dup(pipe.writer)
        close(closed)
        let log = Log(settings: LogSettings(), descriptor: closed) { WallTime(millisecondsSince1970: 0) }
        // The number belongs to somebody else now.
        try #require(dup2(pipe.writer, closed) == closed)
        log.error("misplaced")
        close(closed)
        #expect(pipe.read() == "")
    }
}
