import Testing
import WebSocketProtocol

@testable import BridgeCore

/// What is done about messages.
@Suite struct `Rules` {
    private static func pointer(_ text: String) throws -> JSONPointer { try #require(JSONPointer(text)) }

    @Test func `that match apply all, in order`() throws {
        var world = try ConnectionWorld.greeted {
            $0.rules = [
                try Scripted.rule(Scripted.json("/type", "a")) {
                    $0.reply = try MessageTemplate(text: #"{"ack":{{/id}},"n":{{counter}}}"#)
                    $0.topic = try TopicTemplate("first.{{/id}}")
                    $0.capture = try Scripted.capture([("id", "/id")])
                },
                try Scripted.rule(.contains(Needle("id"))) {
                    $0.reply = try MessageTemplate(text: "seen {{var:id}}")
                    $0.topic = try TopicTemplate("second")
                },
                try Scripted.rule(.binary([1])) { $0.isForwarded = false },
            ]
        }
        let both = try world.socket(.text(#"{"type":"a","id":7}"#))
        #expect(both.replyTexts == [#"{"ack":7,"n":1}"#, "seen 7"])
        let one = try world.socket(.text(#"{"type":"b","id":8}"#))
        #expect(one.replyTexts == ["seen 7"])
        let none = try world.socket(.text("x"))
        #expect(none.replyTexts.isEmpty)
        let kept = try world.socket(.message(Message(.binary, [1])))
        #expect(kept.contains(.passOver(Message(.binary, [1]), isAnswer: false, from: world.id)))
        #expect(world.topics == ["second", "second", nil])
    }

    @Test func `see what answers a heartbeat, too`() throws {
        var world = try ConnectionWorld.greeted {
            $0.heartbeat.expect = .equals("pong")
            $0.rules = [try Scripted.rule(.any) { $0.reply = try MessageTemplate(text: "r") }]
        }
        let answer = try world.socket(.text("pong"))
        #expect(answer.replyTexts == ["r"])
        #expect(answer.delivered.isEmpty)
    }

    @Test(arguments: [
        (#"{"i":41250}"#, Duration.milliseconds(41_250)), (#"{"i":1.5e3}"#, .milliseconds(1500)),
        (#"{"i":1}"#, .milliseconds(10)), (#"{"i":1e300}"#, .seconds(86_400)), (#"{"i":0}"#, nil),
        (#"{"i":-5}"#, nil), (#"{"i":"5"}"#, nil), ("{}", nil), ("i", nil),
    ])
    func `take the time between heartbeats from a message`(message: String, interval: Duration?) throws {
        var world = try ConnectionWorld.greeted {
            $0.heartbeat.interval = .seconds(20)
            $0.rules = [try Scripted.rule(.any) { $0.heartbeatInterval = try Self.pointer("/i") }]
        }
        let actions = try world.socket(.text(message))
        #expect(actions.timers == (interval.map { [$0] } ?? []))
        #expect(world.machine.heartbeatInterval == interval ?? .seconds(20))
        if let interval {
            #expect(try world.advance(interval).pings.count == 1)
            // The next connection begins with what the settings say.
            try world.socket(.ended(error: nil))
            try world.advance(.seconds(1))
            #expect(try world.socket(.plainlyOpened).timers.last == .seconds(20))
        }
    }

    @Test func `begin heartbeats that the settings have not, once ready`() throws {
        var world = try ConnectionWorld.greeted {
            $0.heartbeat.interval = .zero
            $0.onOpen = [try Scripted.expect(.prefix("{"))]
            $0.rules = [try Scripted.rule(.any) { $0.heartbeatInterval = try Self.pointer("/i") }]
        }
        let actions = try world.socket(.text(#"{"i":3000}"#))
        #expect(actions.timers == [.seconds(10), .seconds(3)])
        #expect(try world.advance(.seconds(3)).pings.count == 1)
    }

    @Test func `begin anew, and end`() throws {
        for (deed, next) in [(Rule.Deed.reconnect, ConnectionMachine.Standing.waiting), (.stop, .closed)] {
            var world = try ConnectionWorld.greeted {
                $0.rules = [
                    try Scripted.rule(.equals("now")) {
                        $0.action = deed
                        $0.closeCode = 4000
                    }
                ]
            }
            let actions = try world.socket(.text("now"))
            #expect(actions.contains(.sendClose(world.id, code: 4000, reason: "")))
            #expect(world.deliveredTexts == ["now"])
            try world.socket(.closeFrame(code: 4000, reason: ""))
            try world.socket(.ended(error: nil))
            #expect(world.machine.standing == next)
            #expect(world.failures.isEmpty)
        }
    }

    @Test func `that end a script make it a failed attempt`() throws {
        var world = try ConnectionWorld.greeted {
            $0.onOpen = [try Scripted.expect(.equals("go"))]
            $0.rules = [try Scripted.rule(.equals("again")) { $0.action = .reconnect }]
        }
        try world.socket(.text("again"))
        #expect(world.failures.map(\.phase) == [.onOpen])
    }

    @Test func `leave no answer out, and give up a peer that takes none`() throws {
        var world = try ConnectionWorld.greeted {
            $0.rules = [try Scripted.rule(.any) { $0.reply = try MessageTemplate(text: "r") }]
        }
        var replies = 0
        for _ in 0..<10_000 { replies += try world.socket(.text("q")).replies.count }
        #expect(replies == 10_000)
        #expect(world.machine.isReady)
        // One is taken, so one more is answered.
        try world.tell(.frameWritten(world.id, .ruleReply(bytes: 1)))
        #expect(try world.socket(.text("q")).replies.count == 1)
        let last = try world.socket(.text("q"))
        #expect(last.contains(.sendClose(world.id, code: 1008, reason: "answers are not read")))
        #expect(world.machine.standing == .closing)
        #expect(world.warnings.count == 1)
        // Who does not read does not answer that, either.
        try world.socket(.ended(error: nil))
        let closed = Lifecycle.closed(code: 1006, reason: "answers are not read", clean: false, by: .bridge)
        #expect(world.records.contains(closed))
    }

    @Test func `answer one message with no more than may wait, however many they are`() throws {
        var world = try ConnectionWorld.greeted {
            $0.rules = try (0..<100).map { _ in
                try Scripted.rule(.any) { $0.reply = try MessageTemplate(text: "{{/x}}") }
            }
        }
        let actions = try world.socket(.text(#"{"x":"\#(String(repeating: "x", count: 3 << 20))"}"#))
        #expect(actions.replies.count == 2)
        #expect(world.machine.standing == .closing)
    }

    @Test func `still sort what comes while the connection closes`() throws {
        var world = try ConnectionWorld.greeted {
            $0.rules = [
                try Scripted.rule(.any) {
                    $0.topic = try TopicTemplate("t")
                    $0.reply = try MessageTemplate(text: "r")
                    $0.action = .stop
                }
            ]
        }
        try world.tell(.pauseRequested)
        let actions = try world.socket(.text("late"))
        #expect(actions == [.deliver(Message(.text, Array("late".utf8)), topic: "t", from: world.id)])
    }

    @Test(arguments: [
        (#"{"s":"BTC"}"#, "orders.BTC.1"), (#"{"s":"a.b *>"}"#, "orders.a_b___.1"),
        (#"{"s":""}"#, "orders._.1"),
        ("{}", "orders._.1"), ("x", "orders._.1"), (#"{"s":7}"#, "orders.7.1"),
        (#"{"s":"\n\u0000é"}"#, "orders.__é.1"),
    ])
    func `give topics of which a value is one word`(message: String, topic: String) throws {
        let template = try TopicTemplate("orders.{{/s}}.1")
        #expect(template.topic(of: Message(.text, Array(message.utf8))) == topic)
    }

    @Test(arguments: ["", "a..b", "a.*", ">", "a b", "{{now}}", "{{var:x}}", "a.", "{{/x}}.*"])
    func `give no topics that nobody could ask for`(text: String) {
        #expect(throws: MalformedValue.self) { try TopicTemplate(text) }
    }

    @Test func `find the same in one pass as each would alone`() throws {
        var random = SeededRandom(state: 7)
        for _ in 0..<2000 {
            let rules = try (0..<3).map { _ in try Scripted.rule(random.matcher()) { $0.isForwarded = false }
            }
            let message = random.message()
            var variables = Variables()
            let outcome = RuleSet(rules).apply(to: message, &variables)
            #expect(outcome.isForwarded == !rules.contains { $0.condition.matches(message) })
        }
    }
}

/// Draws conditions and messages that often meet.
private struct SeededRandom {
    var state: UInt64

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return elements[Int(state >> 33) % elements.count]
    }

    mutating func matcher() throws -> Matcher {
        let pointers = ["/a", "/b", "/a/b", "", "/0"]
        let conditions = try (0..<pick([0, 1, 2, 3])).map { _ in
            let value = pick([
                nil, JSONScalar.string("x"), .bool(true), JSONNumber("1").map(JSONScalar.number),
            ])
            return JSONConditions.Condition(try #require(JSONPointer(pick(pointers))), value)
        }
        return pick([.json(JSONConditions(conditions)), .json(JSONConditions(conditions)), .prefix("{")])
    }

    mutating func message() -> Message {
        let values = [#""x""#, "1", "true", "null", #"{"b":"x"}"#, "[1]", "{"]
        let text = pick([
            #"{"a":\#(pick(values))}"#, #"{"a":\#(pick(values)),"b":\#(pick(values))}"#, pick(values),
            "[\(pick(values))]",
        ])
        return Message(pick([.text, .binary]), Array(text.utf8))
    }
}
