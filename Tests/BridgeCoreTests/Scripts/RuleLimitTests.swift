import Testing
import WebSocketProtocol

@testable import BridgeCore

/// What scripts and rules cannot do, and how that shows.
@Suite struct `Limits of rules` {
    private static func text(_ size: Int) -> String { String(repeating: "x", count: size) }

    private static func refer(_ variable: String, _ pointer: String) throws -> [Rule] {
        [
            try Scripted.rule(Scripted.json("/t", "keep")) {
                $0.capture = try Scripted.capture([(variable, pointer)])
            },
            try Scripted.rule(.equals("get")) {
                $0.reply = try MessageTemplate(text: "{{var:\(variable)}} {{last:\(pointer)}}")
            },
        ]
    }

    @Test func `make what is too long to keep absent, with one warning each`() throws {
        var world = try ConnectionWorld.greeted { $0.rules = try Self.refer("c", "/c") }
        let fits = Self.text(Variables.longest - 2)
        for (value, isKept) in [(fits, true), (fits + "x", false), ("new", true), (fits + "xx", false)] {
            try world.socket(.text(#"{"t":"keep","c":"\#(value)"}"#))
            let answer = try world.socket(.text("get")).replyTexts
            #expect(answer == [isKept ? "\(value) \(value)" : "null null"])
        }
        #expect(world.warnings.count == 2)
        #expect(world.warnings[0].contains("`c`") && world.warnings[1].contains("`/c`"))
        #expect(!world.warnings.contains { $0.contains("xxx") })
    }

    @Test func `hold for what a step of onOpen captures, and for what comes while it closes`() throws {
        let long = #"{"c":"\#(Self.text(Variables.longest))"}"#
        var opening = try ConnectionWorld.greeted {
            $0.onOpen = [try Scripted.expect(.prefix("{"), capture: [("c", "/c")])]
        }
        try opening.socket(.text(long))
        #expect(opening.warnings.count == 1)
        var closing = try ConnectionWorld.greeted {
            $0.rules = [try Scripted.rule(.prefix("{")) { $0.capture = try Scripted.capture([("c", "/c")]) }]
        }
        try closing.tell(.pauseRequested)
        try closing.socket(.text(long))
        #expect(closing.warnings.count == 1)
    }

    @Test func `leave a reply out that would be too long, and say which`() throws {
        var world = try ConnectionWorld.greeted {
            $0.rules = [
                try Scripted.rule(.any) { $0.reply = try MessageTemplate(text: "one") },
                try Scripted.rule(.any) {
                    $0.reply = try MessageTemplate(text: String(repeating: "{{/x}}", count: 20))
                },
                try Scripted.rule(.any) { $0.reply = try MessageTemplate(base64: "{{/x}}") },
                try Scripted.rule(.any) { $0.reply = try MessageTemplate(text: "four") },
            ]
        }
        let message = #"{"x":"\#(Self.text(1 << 20))!"}"#
        for _ in 0..<2 { #expect(try world.socket(.text(message)).replyTexts == ["one", "four"]) }
        #expect(world.warnings.map { $0.prefix(19) } == ["the reply of rule 2", "the reply of rule 3"])
        #expect(world.machine.isReady)
    }

    @Test func `hold for heartbeats`() throws {
        var world = try ConnectionWorld.greeted {
            $0.heartbeat.send = .message(try MessageTemplate(base64: "{{last:/x}}"))
            $0.heartbeat.expect = .prefix("{")
            $0.heartbeat.reply = try MessageTemplate(base64: "{{/x}}")
            $0.heartbeat.interval = .seconds(5)
        }
        try world.socket(.text(#"{"x":"no base64!"}"#))
        try world.advance(.seconds(5))
        #expect(world.warnings.map { $0.prefix(14) } == ["heartbeat.repl", "heartbeat.send"])
    }

    @Test func `let the strongest of several actions count, wherever it stands, and all else of all rules`()
        throws
    {
        let deeds: [Rule.Deed] = [.rotate(url: nil), .reconnect, .stop]
        for first in deeds.indices {
            for second in deeds.indices where second != first {
                var world = try ConnectionWorld.greeted {
                    $0.rules = try [first, second].map { index in
                        try Scripted.rule(.any) {
                            $0.action = deeds[index]
                            $0.reply = try MessageTemplate(text: "\(index)")
                        }
                    }
                }
                let actions = try world.socket(.text("x"))
                #expect(actions.replyTexts == ["\(first)", "\(second)"])
                if max(first, second) == 2 {
                    try world.socket(.closeFrame(code: 1000, reason: ""))
                    try world.socket(.ended(error: nil))
                    #expect(world.machine.standing == .closed)
                } else {
                    #expect(world.machine.standing == .closing)
                }
            }
        }
    }

    @Test func `are none of how often a message is read: all rules take from it what one pass has found`()
        throws
    {
        let rules = try (0..<100).map { number in
            try Scripted.rule(.any) {
                $0.reply = try MessageTemplate(text: "{{/a}}{{/b\(number)}}")
                $0.capture = try Scripted.capture([("v\(number)", "/b\(number)")])
                $0.topic = try TopicTemplate("t.{{/b\(number)}}")
            }
        }
        let set = RuleSet(rules)
        let message = Message(.text, Array(#"{"a":1,"b7":2}"#.utf8))
        var variables = Variables()
        let outcome = set.apply(to: message, &variables)
        #expect(outcome.replies.count == 100)
        for (number, reply) in outcome.replies.enumerated() {
            #expect(reply.found == [5..<6, number == 7 ? 12..<13 : nil])
        }
        #expect(variables.values == ["v7": [UInt8(ascii: "2")]])
        // What is no JSON is not looked through again, either, and captures nothing.
        let broken = set.apply(to: Message(.text, Array(#"{"a":1"#.utf8)), &variables)
        #expect(broken.replies.allSatisfy { $0.found == [nil, nil] })
        #expect(broken.topic == "t._")
        #expect(variables.values.count == 1)
    }
}
