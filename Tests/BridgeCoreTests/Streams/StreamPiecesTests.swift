import BridgeCore
import StreamTestSupport
import Testing
import WebSocketProtocol
import WebSocketTestSupport

@Suite struct `Stream pieces` {
    @Test func `a chunk is its length in hexadecimal, the event and a line end`() {
        var stream = EncodedStream(.chunked)
        stream.send(.text, "hello".utf8)
        #expect(stream.text == "20\r\nid: 00000000000a-1\ndata: hello\n\n\r\n")
    }

    @Test func `everything that a stream may hold is a chunk`() throws {
        var stream = EncodedStream(.chunked)
        stream.encode { $0.appendRetry(milliseconds: 2500, to: &$1) }
        stream.send(.ready)
        stream.send(.binary, [1, 2, 3])
        stream.encode { $0.appendKeepAlive(to: &$1) }
        stream.encode { $0.appendPosition(9, to: &$1) }
        let gap = Gap(missed: 1, id: EventID(epoch: Epoch(bits: 10), sequence: 10), oldest: nil)
        stream.encode { $0.append(gap, to: &$1) }
        let body = try #require(chunks(of: stream.bytes + BodyFraming.chunked.end))
        #expect(body.chunks.count == 6)
        #expect(body.isEnded)
        let client = EventSourceParser(Array(body.chunks.joined()))
        #expect(client.events.map(\.type) == ["status", "binary", "gap"])
    }

    @Test func `only a chunked body has an end of its own`() {
        #expect(BodyFraming.chunked.end == Array("0\r\n\r\n".utf8))
        #expect(BodyFraming.plain.end == [])
    }

    @Test(arguments: [0, 1, 9, 10, 15, 16, 255, 256, 4095, 4096, 65_535, 65_536, 1 << 20])
    func `the length is right for payloads of every magnitude`(count: Int) throws {
        var stream = EncodedStream(.chunked)
        stream.send(.text, repeatElement(UInt8(ascii: "x"), count: count))
        let body = try #require(chunks(of: stream.bytes))
        #expect(body.chunks.map(\.count) == [27 + count])
        #expect(stream.bytes.first != UInt8(ascii: "0"))
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `the vectors of RFC 4648 hold`(plain: String, encoded: String) {
        var bytes = Array("before:".utf8)
        Base64.append(Array(plain.utf8), to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "before:" + encoded)
        #expect(Base64.encodedCount(plain.utf8.count) == encoded.utf8.count)
    }

    @Test func `all 64 digits of Base64 are right`() {
        let sextets = (0..<64 as Range<UInt32>).map { $0 }
        let payload = stride(from: 0, to: 64, by: 4).flatMap { start in
            let group = sextets[start..<(start + 4)].reduce(0) { $0 << 6 | $1 }
            return [UInt8(group >> 16), UInt8(group >> 8 & 255), UInt8(group & 255)]
        }
        var bytes: [UInt8] = []
        Base64.append(payload, to: &bytes)
        let expected = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test func `retry is spread over a quarter to both sides`() {
        var random = SeededGenerator(seed: 5)
        let drawn = (0..<5000).map { _ in RetryHint(.seconds(2)).milliseconds(random: &random) }
        #expect(drawn.allSatisfy { 1500...2500 ~= $0 })
        #expect(Set(drawn).count > 900)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .milliseconds(1), .seconds(Int64.max)])
    func `retry never traps nor gets negative`(delay: Duration) {
        var random = SeededGenerator(seed: 6)
        #expect(RetryHint(delay).milliseconds(random: &random) >= 0)
    }

    @Test(arguments: [
        ("text", RecordTypes.text), ("binary", .binary), ("status", .status), ("text,binary", .messages),
        ("status,text", RecordTypes([.text, .status])), ("text,text", .text),
    ])
    func `types are read from a list`(list: String, expected: RecordTypes) {
        #expect(RecordTypes(list: list) == expected)
    }

    @Test(arguments: ["", ",", "text,", "text, binary", "Text", "all", "text,,binary"])
    func `other lists of types are refused`(list: String) {
        #expect(RecordTypes(list: list) == nil)
    }

    @Test func `a filter accepts its types of its connections`() {
        var fixture = LogFixture(HistoryLimits(), HistoryLimits())
        let (mine, other) = (fixture.connections[0], fixture.connections[1])
        let time = WallTime(millisecondsSince1970: 0)
        let text = Record.Payload.message(Message(.text, []))
        let records = [
            fixture.log.append(text, of: mine, at: time),
            fixture.log.append(.message(Message(.binary, [])), of: mine, at: time),
            fixture.log.append(.status(.ready), of: mine, at: time),
            fixture.log.append(text, of: mine, direction: .sent, at: time),
            fixture.log.append(text, of: other, at: time),
        ]
        func accepted(
            _ types: RecordTypes,
            _ connections: ConnectionIndex...,
            directions: RecordDirections = .received
        ) -> [UInt64] {
            let connections = ConnectionSelection(connections)
            let filter = StreamFilter(connections: connections, types: types, directions: directions)
            return records.filter(filter.accepts).map(\.sequence)
        }
        #expect(accepted(.messages, mine) == [1, 2])
        #expect(accepted(.status, mine) == [3])
        #expect(accepted([.text, .status], mine, other) == [1, 3, 5])
        #expect(accepted(.messages) == [])
        #expect(accepted([.text, .status], mine, directions: .sent) == [4])
        #expect(accepted([.text, .status], mine, directions: .both) == [1, 3, 4])
        #expect(StreamFilter(connections: fixture.only(0)).types == .messages)
    }

    @Test func `a selection is what it selects, in whatever order it was given`() {
        let fixture = LogFixture(HistoryLimits(), HistoryLimits(), HistoryLimits(), HistoryLimits())
        let all = fixture.connections
        let some = ConnectionSelection([all[3], all[0], all[3]])
        #expect(some == ConnectionSelection([all[0], all[3]]))
        #expect(all.map(some.contains) == [true, false, false, true])
        let filter = StreamFilter(connections: some)
        let shapes: Set = [
            StreamShape(filter: filter), StreamShape(filter: filter, format: .records),
            StreamShape(filter: StreamFilter(connections: some)),
        ]
        #expect(shapes.count == 2)
    }
}
