import BridgeCore
import FoundationEssentials
import StreamTestSupport
import Testing
import WebSocketProtocol

/// A JSON record, as a decoder that shares nothing with the encoder reads it.
private struct ReadRecord: Decodable, Equatable {
    struct Status: Decodable, Equatable {
        var type: String
        var connection: String
        var time: String
        var code: Int?
        var reason: String?
        var state: String?
    }

    var id: String?
    var connection: String?
    var time: String?
    var direction: String?
    var type: String
    var topic: String?
    var text: String?
    var status: Status?
    var missed: Int?
    var oldest: String?

    enum CodingKeys: CodingKey { case id, connection, time, direction, type, topic, data, missed, oldest }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decodeIfPresent(String.self, forKey: .id)
        connection = try values.decodeIfPresent(String.self, forKey: .connection)
        time = try values.decodeIfPresent(String.self, forKey: .time)
        direction = try values.decodeIfPresent(String.self, forKey: .direction)
        type = try values.decode(String.self, forKey: .type)
        topic = try values.decodeIfPresent(String.self, forKey: .topic)
        missed = try values.decodeIfPresent(Int.self, forKey: .missed)
        oldest = try values.decodeIfPresent(String.self, forKey: .oldest)
        if type == "status" {
            status = try values.decode(Status.self, forKey: .data)
        } else if type != "gap" {
            text = try values.decode(String.self, forKey: .data)
        }
    }
}

private let recordFormats: [StreamFormat] = [.records, .recordLines]

/// The JSON records of a stream in one of the record formats.
private func records(_ stream: EncodedStream, _ format: StreamFormat) throws -> [ReadRecord] {
    let texts =
        switch format {
        case .records: EventSourceParser(stream.bytes).events.map { $0.data }
        default:
            stream.bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map(Array.init)
        }
    return try texts.map { try JSONDecoder().decode(ReadRecord.self, from: Data($0)) }
}

private let time = WallTime(millisecondsSince1970: 1_796_025_120_123)

@Suite struct `Stream formats` {
    static let texts = [
        "hello", "", "one\r\ntwo\rthree\n", "\r", "\n\n", "nul \0 inside", "\u{1}\u{1f}\u{7f}\t\u{8}\u{c}",
        #"quote " backslash \ slash /"#, "äöü 🦉 \u{2028}\u{2029}\u{85}\u{feff}", "\",\"type\":\"gap",
        "data: x\n\nid: 1\n\n", #"{"json":"\u0000"}"#,
    ]

    @Test(arguments: recordFormats, texts) func `a text comes back as it was`(
        format: StreamFormat,
        text: String
    )
        throws
    {
        var stream = EncodedStream(format: format)
        stream.send(.text, text.utf8)
        stream.send(.text, "next".utf8)
        let read = try records(stream, format)
        #expect(read.map(\.text) == [text, "next"])
        #expect(read.map(\.type) == ["text", "text"])
    }

    @Test(arguments: recordFormats) func `every character below 256 comes back`(format: StreamFormat) throws {
        let text = String(String.UnicodeScalarView((0..<256).compactMap(Unicode.Scalar.init)))
        var stream = EncodedStream(format: format)
        stream.send(.text, text.utf8)
        #expect(try records(stream, format).map(\.text) == [text])
    }

    @Test(arguments: recordFormats) func `bytes come back through Base64`(format: StreamFormat) throws {
        let payload = (0...255).map { UInt8($0) }
        var stream = EncodedStream(format: format)
        stream.send(.binary, payload)
        stream.send(.binary, [])
        let read = try records(stream, format)
        #expect(read.map(\.type) == ["binary", "binary"])
        #expect(read.map { Data(base64Encoded: $0.text ?? "?") } == [Data(payload), Data()])
    }

    @Test func `a record is written in full`() {
        var stream = EncodedStream(format: .recordLines)
        stream.send(.text, "a\"b".utf8)
        stream.send(.binary, [1], direction: .sent, topic: "orders.x")
        #expect(
            stream.text == #"""
                {"id":"00000000000a-1","connection":"default","time":"2026-11-30T07:52:00.123Z","direction":"in",\#
                "type":"text","topic":"messages","data":"a\"b"}
                {"id":"00000000000a-2","connection":"default","time":"2026-11-30T07:52:00.123Z","direction":"out",\#
                "type":"binary","topic":"orders.x","data":"AQ=="}

                """#
        )
    }

    @Test func `an event of JSON has the id and one data line, and no type`() {
        var stream = EncodedStream(format: .records)
        stream.send(.text, "a\nb".utf8)
        let lines = stream.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.map { $0.prefix(6) } == ["id: 00", "data: ", "", ""])
        let events = EventSourceParser(stream.bytes).events
        #expect(events.map(\.type) == ["message"])
        #expect(events.map(\.id) == ["00000000000a-1"])
    }

    @Test(arguments: recordFormats) func `lifecycle events are objects`(format: StreamFormat) throws {
        var stream = EncodedStream(format: format)
        stream.send(.closed(code: 1001, reason: "a\n\r\"b", clean: true, by: .server))
        let read = try records(stream, format)
        #expect(read.map(\.type) == ["status"])
        #expect(read.map(\.id) == ["00000000000a-1"])
        #expect(read.map(\.direction) == ["in"])
        #expect(read.map(\.topic) == [nil])
        let status = try #require(read.first?.status)
        #expect(status.type == "closed" && status.connection == "default" && status.time == read.first?.time)
        #expect(status.code == 1001 && status.reason == "a\n\r\"b")
    }

    @Test(arguments: recordFormats) func `a snapshot is a status record without an id`(format: StreamFormat)
        throws
    {
        var stream = EncodedStream(format: format)
        stream.encode { encoder, bytes in
            encoder.appendSnapshot(of: "x", at: time, to: &bytes) { $0.member("state", "open") }
        }
        let read = try #require(try records(stream, format).first)
        #expect(read.id == nil && read.type == "status" && read.connection == "x")
        #expect(read.status?.type == "snapshot" && read.status?.state == "open")
        #expect(EventSourceParser(stream.bytes).lastEventID == "")
    }

    @Test(arguments: recordFormats, [(3, "00000000000a-9"), (nil, nil)] as [(UInt64?, String?)])
    func `a gap is a record of its own`(format: StreamFormat, gap: (missed: UInt64?, oldest: String?)) throws
    {
        let epoch = Epoch(bits: 10)
        var stream = EncodedStream(format: format)
        let lost = Gap(
            missed: gap.missed,
            id: EventID(epoch: epoch, sequence: 8),
            oldest: gap.oldest.flatMap { EventID(text: $0) }
        )
        stream.encode { $0.append(lost, to: &$1) }
        let read = try #require(try records(stream, format).first)
        #expect(read.type == "gap" && read.id == "00000000000a-8")
        #expect(read.missed == gap.missed.map(Int.init) && read.oldest == gap.oldest)
        if format == .records { #expect(EventSourceParser(stream.bytes).lastEventID == "00000000000a-8") }
    }

    @Test func `raw is the payload and a line feed, whatever it holds`() {
        var stream = EncodedStream(format: .payloads)
        stream.send(.text, "one\r\ntwo\0".utf8)
        stream.send(.text, [])
        stream.send(.binary, [0, 255, 10, 13])
        stream.send(.binary, [])
        #expect(stream.text == "one\r\ntwo\0\n\nAP8KDQ==\n\n")
    }

    @Test func `raw has neither status nor gaps`() {
        var stream = EncodedStream(.chunked, format: .payloads)
        stream.send(.ready)
        stream.encode {
            $0.append(Gap(missed: 1, id: EventID(epoch: Epoch(bits: 1), sequence: 1), oldest: nil), to: &$1)
        }
        stream.encode { encoder, bytes in
            encoder.appendSnapshot(of: "x", at: time, to: &bytes) { _ in }
        }
        #expect(stream.bytes == [])
    }

    @Test(arguments: StreamFormat.allCases)
    func `only event streams tell when to come back, keep alive and move the cursor`(format: StreamFormat) {
        var stream = EncodedStream(.chunked, format: format)
        stream.encode { $0.appendRetry(milliseconds: 2500, to: &$1) }
        stream.encode { $0.appendKeepAlive(to: &$1) }
        stream.encode { $0.appendPosition(7, to: &$1) }
        let client = EventSourceParser(chunks(of: stream.bytes)?.chunks.flatMap(\.self) ?? [])
        #expect(stream.bytes.isEmpty != format.isEventStream)
        #expect(client.reconnectionTime == (format.isEventStream ? 2500 : nil))
        #expect(client.lastEventID == (format.isEventStream ? "00000000000a-7" : ""))
        #expect(client.comments == (format.isEventStream ? 1 : 0))
    }

    @Test(arguments: StreamFormat.allCases) func `each record is one chunk`(format: StreamFormat) throws {
        var stream = EncodedStream(.chunked, format: format)
        var plain = EncodedStream(.plain, format: format)
        for count in [0, 1, 15, 16, 255, 256, 70_000] {
            let payload = repeatElement(UInt8(ascii: "\""), count: count)
            stream.send(.text, payload)
            plain.send(.text, payload)
            stream.send(.binary, payload)
            plain.send(.binary, payload)
        }
        let body = try #require(chunks(of: stream.bytes))
        #expect(body.chunks.count == 14)
        #expect(Array(body.chunks.joined()) == plain.bytes)
    }

    @Test(arguments: [
        (StreamFormat.events, "text/event-stream; charset=utf-8"),
        (.records, "text/event-stream; charset=utf-8"), (.recordLines, "application/x-ndjson"),
        (.payloads, "text/plain; charset=utf-8"),
    ])
    func `each has its media type`(format: StreamFormat, type: String) {
        #expect(format.contentType == type)
        #expect(HTTPResponse.streamFields(format).first == HTTPField("Content-Type", type))
    }
}
