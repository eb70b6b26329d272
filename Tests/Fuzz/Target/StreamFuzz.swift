import BridgeCore
import FoundationEssentials
import StreamTestSupport
import WebSocketProtocol

/// Messages and topics that may hold anything: what a browser makes of the stream must be them, and no more.
func fuzzStreams(_ bytes: [UInt8], setup: UInt8) {
    let payloads = bytes.split(separator: setup, maxSplits: 8, omittingEmptySubsequences: false).map(
        Array.init
    )
    for format in StreamFormat.allCases {
        for framing in [BodyFraming.plain, .chunked] {
            var stream = EncodedStream(framing, format: format)
            for (index, payload) in payloads.enumerated() {
                let topic = String(decoding: payload.reversed(), as: UTF8.self)
                stream.send(kind(of: payload, index), payload, topic: topic)
            }
            check(stream, format, framing, payloads)
        }
    }
}

private func kind(of payload: [UInt8], _ index: Int) -> Message.Kind {
    index % 3 != 2 && String(validating: payload, as: UTF8.self) != nil ? .text : .binary
}

private func check(
    _ stream: EncodedStream,
    _ format: StreamFormat,
    _ framing: BodyFraming,
    _ payloads: [[UInt8]]
) {
    var body = stream.bytes
    if framing == .chunked {
        guard let (chunks, isEnded) = chunks(of: body) else { preconditionFailure("no chunked body") }
        precondition(!isEnded, "the body ends")
        body = chunks.flatMap { $0 }
    }
    switch format {
    case .events: checkEvents(EventSourceParser(body), payloads)
    case .records:
        let parser = EventSourceParser(body)
        precondition(parser.strangers.isEmpty && parser.reconnectionTime == nil, "a payload became a field")
        checkRecords(parser.events.map(\.data), payloads)
    case .recordLines:
        precondition(body.last == 0x0A, "a line does not end")
        checkRecords(
            body.dropLast().split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init),
            payloads
        )
    case .payloads: break  // What divides them may stand in them.
    }
}

private func checkEvents(_ parser: EventSourceParser, _ payloads: [[UInt8]]) {
    precondition(parser.strangers.isEmpty && parser.reconnectionTime == nil, "a payload became a field")
    let expected = payloads.enumerated().map { index, payload in
        let id = "00000000000a-\(index + 1)"
        return switch kind(of: payload, index) {
        case .text: EventSourceParser.Event(id: id, data: withLineFeeds(payload))
        case .binary:
            EventSourceParser.Event(id: id, type: "binary", data: Data(payload).base64EncodedString())
        }
    }
    precondition(parser.events == expected, "a payload is not what it was")
}

private func checkRecords(_ lines: [[UInt8]], _ payloads: [[UInt8]]) {
    struct Record: Decodable {
        var id: String
        var type: String
        var topic: String
        var data: String
    }
    precondition(lines.count == payloads.count, "not a record for each")
    for (index, (line, payload)) in zip(lines, payloads).enumerated() {
        guard let record = try? JSONDecoder().decode(Record.self, from: Data(line)) else {
            preconditionFailure("a record is no JSON")
        }
        precondition(record.id == "00000000000a-\(index + 1)", "another id")
        precondition(
            Array(record.topic.utf8) == Array(String(decoding: payload.reversed(), as: UTF8.self).utf8)
        )
        switch kind(of: payload, index) {
        case .text: precondition(record.type == "text" && Array(record.data.utf8) == payload, "another text")
        case .binary:
            let data = Data(base64Encoded: record.data).map(Array.init)
            precondition(record.type == "binary" && data == payload, "other bytes")
        }
    }
}

/// CR and CRLF arrive as LF.
private func withLineFeeds(_ payload: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    for (index, byte) in payload.enumerated() {
        if byte == 0x0A, index > 0, payload[index - 1] == 0x0D { continue }
        text.append(byte == 0x0D ? 0x0A : byte)
    }
    return text
}
