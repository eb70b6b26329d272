import BridgeCore
import Testing
import WebSocketProtocol
import WebSocketTestSupport

@Suite struct `Topic patterns` {
    @Test(
        arguments: [
            ("orders", ["orders"]), ("*", ["orders", "messages"]),
            (">", ["orders", "messages", "orders.eu", "orders.eu.filled", "orders..filled"]),
            ("orders.*", ["orders.eu"]), ("orders.>", ["orders.eu", "orders.eu.filled", "orders..filled"]),
            ("orders.*.filled", ["orders.eu.filled", "orders..filled"]),
            ("*.eu", ["orders.eu"]), ("*.*.>", ["orders.eu.filled", "orders..filled"]),
            ("Orders", []), ("order", []), ("orders.eu.filled.now", []),
            (
                "orders.*.>",
                [
                    "orders.eu.filled", "orders..filled",
                ]
            ),
        ] as [(String, [String])]
    )
    func `match by whole words`(pattern: String, matched: [String]) throws {
        let topics = ["orders", "messages", "orders.eu", "orders.eu.filled", "orders..filled"]
        let pattern = try #require(TopicPattern(pattern))
        #expect(Set(topics.filter(pattern.matches)) == Set(matched))
    }

    @Test(arguments: ["", ".", "a.", ".a", "a..b", "a*", "*a.b", "a.>.b", ">.a", "a>", "**", ">>"])
    func `that could be meant otherwise are refused`(text: String) {
        #expect(TopicPattern(text) == nil)
    }
}

@Suite struct `Filters of content` {
    private func condition(_ text: String) throws -> ContentFilter.Condition {
        try #require(ContentFilter.Condition(text))
    }

    @Test(
        arguments: [
            ("/s:BTC", #"{"s":"BTC"}"#, true), ("/s:BTC", #" { "a" : 1, "s" : "B\u0054C" } "#, true),
            ("/s:BTC", #"{"s":"BTCX"}"#, false), ("/s:BTC", #"{"S":"BTC"}"#, false), ("/s:BTC", "BTC", false),
            ("/s:", #"{"s":""}"#, true), ("/s:", #"{"s":null}"#, false), ("/s:a:b", #"{"s":"a:b"}"#, true),
            ("/n:1", #"{"n":1}"#, true), ("/n:1", #"{"n":"1"}"#, true), ("/n:1", #"{"n":1.0}"#, false),
            ("/n:true", #"{"n":true}"#, true), ("/n:null", #"{"n":null}"#, true),
            (#"/n:{"a":1}"#, #"{"n":{"a":1}}"#, true), (#"/n:{"a":1}"#, #"{"n":{"a": 1}}"#, false),
            (#"/n:"x""#, #"{"n":"\"x\""}"#, true), (#"/n:"x""#, #"{"n":"x"}"#, false),
            (":7", "7", true), ("/1/x:y", #"[0,{"x":"y"}]"#, true), ("/a~1b:c", #"{"a/b":"c"}"#, true),
            ("/s:BTC", #"{"s":"BTC""#, false), ("/s:ü", #"{"s":"ü"}"#, true),
            ("/s:b", #"{"s":"a","s":"b"}"#, true),
        ] as [(String, String, Bool)]
    )
    func `compare strings by what they say and other values by their text`(
        text: String,
        message: String,
        isAccepted: Bool
    ) throws {
        let filter = ContentFilter([try condition(text)])
        #expect(filter.accepts(Message(.text, Array(message.utf8))) == isAccepted)
    }

    @Test(arguments: ["", "x", "/a", "a:b", "/a~:b", "/a~2:b"])
    func `need a pointer, a colon and a value`(text: String) {
        #expect(ContentFilter.Condition(text) == nil)
    }

    @Test func `narrow, one after another`() throws {
        let filter = ContentFilter([try condition("/a:1"), try condition("/b:2"), try condition("/a:1")])
        #expect(filter == ContentFilter([try condition("/b:2"), try condition("/a:1")]))
        #expect(filter.conditions.count == 2)
        #expect(filter.accepts(Message(.text, Array(#"{"b":2,"a":1}"#.utf8))))
        #expect(!filter.accepts(Message(.text, Array(#"{"a":1}"#.utf8))))
    }

    @Test func `look into binary messages that are JSON`() throws {
        let filter = ContentFilter([try condition("/a:1")])
        #expect(filter.accepts(Message(.binary, Array(#"{"a":1}"#.utf8))))
        #expect(!filter.accepts(Message(.binary, [0xFF, 0x00])))
    }
}

@Suite struct `Filters of streams` {
    private var fixture = LogFixture(HistoryLimits(), HistoryLimits())

    private mutating func record(_ payload: Record.Payload, topic: String? = nil) -> Record {
        fixture.log.append(
            payload,
            of: fixture.connections[0],
            at: WallTime(millisecondsSince1970: 0),
            topic: topic
        )
    }

    @Test mutating func `choose messages by topic and content, and let lifecycle events pass`() throws {
        let topics = try ["orders.>", "messages"].map { try #require(TopicPattern($0)) }
        let content = ContentFilter([try #require(ContentFilter.Condition("/a:1"))])
        let one = Record.Payload.message(Message(.text, Array(#"{"a":1}"#.utf8)))
        let two = Record.Payload.message(Message(.text, Array(#"{"a":2}"#.utf8)))
        let records = [
            record(one), record(one, topic: "orders.eu"), record(one, topic: "trades"), record(two),
            record(.status(.ready)),
        ]
        func accepted(_ filter: StreamFilter) -> [UInt64] { records.filter(filter.accepts).map(\.sequence) }
        let all: RecordTypes = [.text, .status]
        let mine = fixture.only(0)
        #expect(accepted(StreamFilter(connections: mine, types: all, topics: topics)) == [1, 2, 4, 5])
        #expect(accepted(StreamFilter(connections: mine, types: all, content: content)) == [1, 2, 3, 5])
        #expect(accepted(StreamFilter(connections: mine, topics: topics, content: content)) == [1, 2])
        #expect(accepted(StreamFilter(connections: fixture.only(1), topics: topics)) == [])
    }

    @Test func `are the same in whatever order they are written`() throws {
        let a = try #require(TopicPattern("a"))
        let b = try #require(TopicPattern("b"))
        let left = StreamFilter(connections: fixture.all, topics: [a, b, a])
        #expect(left == StreamFilter(connections: fixture.all, topics: [b, a]))
        #expect(left != StreamFilter(connections: fixture.all, topics: [a]))
    }

    @Test func `count as one combination whichever single connection they are for`() throws {
        func combination(_ connections: ConnectionSelection, _ format: StreamFormat = .events) -> StreamShape
        {
            StreamShape(filter: StreamFilter(connections: connections), format: format).combination
        }
        #expect(combination(fixture.only(0)) == combination(fixture.only(1)))
        #expect(combination(fixture.only(0)) != combination(fixture.only(0), .records))
        #expect(combination(fixture.only(0)) != combination(fixture.all))
    }

    @Test mutating func `say the same together as each by itself`() throws {
        var random = SeededGenerator(seed: 11)
        let pointers = ["/a", "/b", "/a/c", "", "/1"].compactMap { JSONPointer($0) }
        let values = ["1", "x", "", "null", #"{"c":1}"#]
        let topics = ["messages", "orders.eu", "orders", "trades.eu.now"]
        let patterns = ["*", "orders.>", "*.eu", ">", "trades.*.now", "messages", "orders.eu", "orders"]
            .compactMap { TopicPattern($0) }
        let filters = (0..<60).map { _ in
            let conditions = (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in
                pointers.randomElement(using: &random).map {
                    ContentFilter.Condition($0, values.randomElement(using: &random) ?? "")
                }
            }
            return StreamFilter(
                connections: Bool.random(using: &random) ? fixture.only(0) : fixture.only(1),
                types: RecordTypes(rawValue: UInt8.random(in: 1...7, using: &random)),
                directions: RecordDirections.allCases.randomElement(using: &random) ?? .both,
                topics: (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in
                    patterns.randomElement(using: &random)
                },
                content: ContentFilter(conditions)
            )
        }
        let texts = [
            "", "no JSON", "1", #""x""#, #"{"a":1}"#, #"{"a":{"c":1},"b":"x"}"#, #"[1,"x"]"#, #"{"b":null}"#,
            #"{"a":"\u0078"}"#, #"{"a":""}"#, #"{"a":"1","b":1}"#, #"{"a":"{\"c\":1}"}"#,
            #"{"a":"longer than what is looked for, even if it were escaped"}"#,
        ]
        let set = FilterSet(filters)
        var acceptances = 0
        for _ in 0..<400 {
            let bytes = Array((texts.randomElement(using: &random) ?? "").utf8)
            let kind: Message.Kind = Bool.random(using: &random) ? .text : .binary
            let payload: Record.Payload =
                Int.random(in: 0..<10, using: &random) == 0 ? .status(.ready) : .message(Message(kind, bytes))
            let found = record(payload, topic: topics.randomElement(using: &random))
            var together: [Int] = []
            set.forEachAccepting(found) { together.append($0) }
            #expect(together == filters.indices.filter { filters[$0].accepts(found) })
            acceptances += together.count
        }
        #expect(acceptances > 1000)
    }
}
