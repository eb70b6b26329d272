import BridgeCore
import StreamTestSupport
import Testing
import WebSocketProtocol
import WebSocketTestSupport

@Suite struct `Server-Sent Events` {
    @Test(arguments: [
        ("hello", "data: hello\n"),
        ("", "data: \n"),
        ("a\nb", "data: a\ndata: b\n"),
        ("a\r\nb\rc", "data: a\ndata: b\ndata: c\n"),
        ("a\n", "data: a\ndata: \n"),
        ("\n\r\r\n", "data: \ndata: \ndata: \ndata: \n"),
        (" x", "data:  x\n"),
        (": x", "data: : x\n"),
        ("id: 9\n\nevent: y", "data: id: 9\ndata: \ndata: event: y\n"),
        ("é😀\u{2028}\u{85}", "data: é😀\u{2028}\u{85}\n"),
    ])
    func `a text has an id and a data line for each of its lines`(payload: String, lines: String) {
        var stream = EncodedStream()
        stream.send(.text, payload.utf8)
        #expect(stream.text == "id: 00000000000a-1\n\(lines)\n")
    }

    @Test func `a binary message is an event of its own in Base64`() {
        var stream = EncodedStream(sequence: 10)
        stream.send(.binary, [0, 255, 10, 13])
        stream.send(.binary, [])
        #expect(
            stream.text == """
                id: 00000000000a-10
                event: binary
                data: AP8KDQ==

                id: 00000000000a-11
                event: binary
                data: 


                """
        )
    }

    @Test func `an empty binary message reaches the client too`() {
        var stream = EncodedStream()
        stream.send(.binary, [])
        let expected = EventSourceParser.Event(id: "00000000000a-1", type: "binary", data: "")
        #expect(EventSourceParser(stream.bytes).events == [expected])
    }

    @Test(arguments: [
        (Lifecycle.connecting, "connecting", ""),
        (.open(subprotocol: nil, reconnected: false), "open", #","subprotocol":null,"reconnected":false"#),
        (.open(subprotocol: "v2", reconnected: true), "open", #","subprotocol":"v2","reconnected":true"#),
        (.ready, "ready", ""),
        (
            .closed(code: 1001, reason: "a\n\nid: \"9\"\r", clean: true, by: .server), "closed",
            #","code":1001,"reason":"a\n\nid: \"9\"\r","clean":true,"by":"server""#
        ),
        (
            .closed(code: 1006, reason: "", clean: false, by: .bridge), "closed",
            #","code":1006,"reason":"","clean":false,"by":"bridge""#
        ),
        (
            .failed(DialFailure(phase: .tcp, error: "refused")), "failed",
            #","phase":"tcp","status":null,"error":"refused""#
        ),
        (
            .failed(DialFailure(phase: .handshake, status: 503, retryAfter: .seconds(1), error: "no")),
            "failed",
            #","phase":"handshake","status":503,"error":"no""#
        ),
        (.heartbeatMissed(misses: 2), "heartbeat-missed", #","misses":2"#),
        (.heartbeatLost, "heartbeat-lost", ""),
        (
            .reconnecting(attempt: 3, delay: .microseconds(1_500_900)), "reconnecting",
            #","attempt":3,"delayMs":1500"#
        ),
        (.gaveUp(attempts: 4), "gave-up", #","attempts":4"#),
        (.networkLost, "network-lost", ""), (.networkRestored, "network-restored", ""),
        (.messageExpired(id: "m1"), "message-expired", #","id":"m1""#),
        (.messageDropped(id: "m2"), "message-dropped", #","id":"m2""#),
    ])
    func `a lifecycle event is a status with its members`(event: Lifecycle, type: String, members: String) {
        var stream = EncodedStream()
        stream.send(event)
        let head = #""connection":"default","time":"2026-11-30T07:52:00.123Z""#
        let data = #"{"type":"\#(type)",\#(head)\#(members)}"#
        #expect(stream.text == "id: 00000000000a-1\nevent: status\ndata: \(data)\n\n")
    }

    @Test func `a snapshot is a status without an id`() {
        var stream = EncodedStream()
        stream.encode { encoder, bytes in
            let time = WallTime(millisecondsSince1970: 0)
            encoder.appendSnapshot(of: "x", at: time, to: &bytes) { $0.member("state", "open") }
        }
        let data = #"{"type":"snapshot","connection":"x","time":"1970-01-01T00:00:00.000Z","state":"open"}"#
        #expect(stream.text == "event: status\ndata: \(data)\n\n")
    }

    @Test(arguments: [
        (UInt64?(3), UInt64?(5), #"{"missed":3,"oldest":"00000000000a-5"}"#),
        (nil, nil, #"{"missed":null,"oldest":null}"#),
    ])
    func `a gap tells what was missed and what is kept`(missed: UInt64?, oldest: UInt64?, data: String) {
        var stream = EncodedStream()
        let epoch = Epoch(bits: 10)
        let gap = Gap(
            missed: missed,
            id: EventID(epoch: epoch, sequence: 4),
            oldest: oldest.map { EventID(epoch: epoch, sequence: $0) }
        )
        stream.encode { $0.append(gap, to: &$1) }
        #expect(stream.text == "id: 00000000000a-4\nevent: gap\ndata: \(data)\n\n")
    }

    @Test func `retry, keep-alive and position are no events but are understood`() {
        var stream = EncodedStream()
        stream.encode { $0.appendRetry(milliseconds: 2000, to: &$1) }
        stream.encode { $0.appendKeepAlive(to: &$1) }
        stream.encode { $0.appendPosition(17, to: &$1) }
        #expect(stream.text == "retry: 2000\n\n:\n\nid: 00000000000a-17\n\n")
        let client = EventSourceParser(stream.bytes)
        #expect(client.events == [])
        #expect(client.reconnectionTime == 2000)
        #expect(client.comments == 1)
        #expect(client.lastEventID == "00000000000a-17")
    }

    @Test(arguments: [
        "", "\n", "\r", "\r\n", "\n\r", "\r\r\n\n", "\u{0}", "a\u{0}b", "\u{FEFF}", "\u{FEFF}data: x", " ",
        "  lead",
        "\tlead", ":", ": comment", "data", "data:", "data: x", "id: 5", "id", "event: status\n\n",
        "retry: 1\n\n",
        "\n\ndata: forged\n\n", "x\r\rdata: forged\r\r", "ends with line end\n", "two\n\n",
        "\u{2028}\u{2029}\u{85}\u{B}\u{C}",
        "é😀", "{\"a\":1}",
    ])
    func `nasty texts reach the client as they are`(payload: String) {
        var stream = EncodedStream()
        stream.encode { $0.appendRetry(milliseconds: 1, to: &$1) }
        stream.send(.text, payload.utf8)
        stream.send(.text, "after".utf8)
        let client = EventSourceParser(stream.bytes)
        let expected = [
            EventSourceParser.Event(id: "00000000000a-1", data: withLineFeeds(payload.utf8)),
            EventSourceParser.Event(id: "00000000000a-2", data: "after"),
        ]
        #expect(client.events == expected)
        #expect(client.strangers == [])
        #expect(client.reconnectionTime == 1)
    }

    @Test(arguments: 0..<25 as Range<UInt64>)
    func `random payloads reach the client, whatever the framing`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var plain = EncodedStream()
        var chunked = EncodedStream(.chunked)
        var expected: [EventSourceParser.Event] = []
        for number in 1...40 {
            let payload = randomPayload(&random)
            let isText = Bool.random(using: &random)
            plain.send(isText ? .text : .binary, payload)
            chunked.send(isText ? .text : .binary, payload)
            let data = isText ? withLineFeeds(payload) : encodedSlowly(payload)
            let type = isText ? "message" : "binary"
            expected.append(.init(id: "00000000000a-\(number)", type: type, data: data))
        }
        let client = EventSourceParser(plain.bytes)
        #expect(client.events == expected)
        #expect(client.strangers == [])
        #expect(client.comments == 0)

        let body = try #require(chunks(of: chunked.bytes))
        #expect(body.chunks.count == 40)
        #expect(Array(body.chunks.joined()) == plain.bytes)
    }

    /// Often from an alphabet of what could hurt, sometimes any bytes, now and then long.
    private func randomPayload(_ random: inout SeededGenerator) -> [UInt8] {
        let pieces = [
            "\n", "\r", "\r\n", "data: ", "id: ", "event: ", ":", " ", "\u{0}", "\u{FEFF}", "x", "é",
        ]
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            return (0..<Int.random(in: 0..<300, using: &random)).map { _ in
                .random(in: 0...255, using: &random)
            }
        case 1:
            return [UInt8](repeating: UInt8(ascii: "y"), count: .random(in: 0..<3000, using: &random))
        default:
            let count = Int.random(in: 0..<12, using: &random)
            return (0..<count).flatMap { _ in (pieces.randomElement(using: &random) ?? "").utf8 }
        }
    }

    private func withLineFeeds(_ payload: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        for byte in payload {
            if byte == 0x0A, result.last == 0x0D { result.removeLast() }
            result.append(byte)
        }
        return result.map { $0 == 0x0D ? 0x0A : $0 }
    }

    /// Base64 by the bits, as RFC 4648 explains it.
    private func encodedSlowly(_ payload: [UInt8]) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var bits = payload.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
        while bits.count % 6 != 0 { bits.append(0) }
        var text = stride(from: 0, to: bits.count, by: 6).map { start in
            alphabet[bits[start..<(start + 6)].reduce(0) { $0 << 1 | Int($1) }]
        }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return text
    }
}
