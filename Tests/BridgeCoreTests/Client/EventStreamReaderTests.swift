import BridgeCore
import StreamTestSupport
import Testing

@Suite struct `Event stream` {
    typealias Event = EventStreamReader.Event

    private func event(_ data: String, type: String = "message", id: String = "") -> Event {
        Event(type: type, data: Array(data.utf8), id: id)
    }

    private func read(_ pieces: [[UInt8]]) throws -> ([Event], EventStreamReader) {
        var reader = EventStreamReader()
        var events: [Event] = []
        for piece in pieces { events += try reader.read(piece) }
        return (events, reader)
    }

    @Test(arguments: [
        ("data: a\n\n", ["message||a"]),
        ("data:a\r\rdata: b\r\n\r\n", ["message||a", "message||b"]),
        ("data: a\ndata: b\ndata:\ndata\n\n", ["message||a\nb\n\n"]),
        ("\u{FEFF}data: a\n\n", ["message||a"]), ("data:  a \n\n", ["message|| a "]),
        (": comment\nevent: x\nid: 7\ndata: a\n\ndata: b\n\n", ["x|7|a", "message|7|b"]),
        ("event: x\n\ndata: a\n\n", ["message||a"]), ("id: 7\n\ndata: a\n\n", ["message|7|a"]),
        ("id: 7\nid\ndata: a\n\n", ["message||a"]), ("id: 7\nid: a\0b\ndata: a\n\n", ["message|7|a"]),
        ("data: a\n", []), ("data: a", []), ("other: x\ndata: a\n\n", ["message||a"]),
        ("data\n\n", ["message||"]), ("\n\n\r\n\r", []),
        ("data: a\r\n\r\n\r\ndata: b\r\n\r\n", ["message||a", "message||b"]),
    ])
    func `is read by the rules of WHATWG in whatever pieces it comes`(text: String, events: [String]) throws {
        let bytes = Array(text.utf8)
        for split in bytes.indices {
            let (read, _) = try read([Array(bytes[..<split]), Array(bytes[split...])])
            #expect(read.map { "\($0.type)|\($0.id)|\(String(decoding: $0.data, as: UTF8.self))" } == events)
        }
        let (bytewise, _) = try read(bytes.map { [$0] })
        #expect(bytewise.count == events.count)
    }

    @Test func `confirms an id with the blank line, with or without data`() throws {
        var reader = EventStreamReader(lastID: "1")
        _ = try reader.read(Array("id: 2\ndata: a\n".utf8))
        #expect(reader.lastID == "1")
        _ = try reader.read(Array("\nid: 3\n\nid: 4\n".utf8))
        #expect(reader.lastID == "3")
    }

    @Test(arguments: [
        ("retry: 50\n", 50), ("retry: 1\nretry: 2\n", 2), ("retry: x\n", nil), ("retry: -1\n", nil),
        ("retry: 99999999999999999999\n", nil), ("retry:\n", nil),
    ])
    func `tells how long to wait`(text: String, retry: Int?) throws {
        #expect(try read([Array(text.utf8)]).1.retry == retry)
    }

    @Test(arguments: ["data: 0123456789\n", "data: 012\ndata: 345\ndata: 678\n: \n", "0123456789"])
    func `is bounded`(text: String) throws {
        var reader = EventStreamReader(limit: 9)
        #expect(throws: EventStreamReader.TooLarge(limit: 9)) { try reader.read(Array(text.utf8)) }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `reads as another parser does`(seed: UInt64) throws {
        var input = RandomInput(seed: seed)
        let pieces = ["data: a", "data", ":", "\n", "\r", "\n\n", "id: 1", "id: 2", "event: e", " ", "\0"]
        for _ in 0..<300 {
            let bytes = input.bytes(of: pieces) + input.bytes(of: pieces)
            let other = EventSourceParser(bytes)
            let (events, reader) = try read(bytes.map { [$0] })
            #expect(events.map(\.data) == other.events.map(\.data))
            #expect(events.map(\.id) == other.events.map(\.id))
            #expect(events.map(\.type) == other.events.map(\.type))
            #expect(reader.lastID == other.lastEventID)
        }
    }
}
