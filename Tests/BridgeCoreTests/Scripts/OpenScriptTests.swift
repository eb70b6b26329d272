import Testing
import WebSocketProtocol

@testable import BridgeCore

/// What is said between the handshake and the first message.
@Suite struct `An open script` {
    @Test func `is followed step by step, and only then is the connection ready`() throws {
        var world = try ConnectionWorld.greeted {
            $0.onOpen = [
                try Scripted.expect(Scripted.json("/type", "hello"), capture: [("nonce", "/nonce")]),
                try Scripted.send(#"{"answer":{{/nonce}},"again":"{{var:nonce}}","n":{{counter}}}"#),
                try Scripted.send(#"{"n":{{counter}}}"#),
                try Scripted.expect(.prefix("ok")),
            ]
        }
        #expect(world.machine.standing == .open)
        #expect(!world.machine.isReady)
        #expect(world.machine.uplink == .away)
        #expect(world.said.isEmpty)
        try world.socket(.text(#"{"type":"hello","nonce":"x\"y"}"#))
        #expect(world.saidTexts == [#"{"answer":"x\"y","again":"x\"y","n":1}"#, #"{"n":2}"#])
        #expect(!world.machine.isReady)
        try world.writeScript(2)
        let last = try world.socket(.text("ok then"))
        #expect(last.records == [.ready])
        #expect(world.machine.isReady)
        #expect(world.machine.uplink == .ready)
        #expect(world.delivered.isEmpty)
        let open = Lifecycle.open(subprotocol: nil, reconnected: false)
        #expect(world.records == [.connecting, open, .ready])
    }

    @Test func `forwards what it did not wait for, and what it is told to`() throws {
        var world = try ConnectionWorld.greeted {
            $0.onOpen = [
                try Scripted.expect(.equals("a"), forward: true), try Scripted.expect(.equals("b")),
            ]
        }
        for text in ["b", "a", "noise", "b", "b"] { try world.socket(.text(text)) }
        #expect(world.deliveredTexts == ["b", "a", "noise", "b"])
    }

    @Test(arguments: [
        (["hello a"], ["for a", "first time"]), (["hello b"], ["first time"]),
    ])
    func `has steps that depend on the last message, and on what is known`(
        greetings: [String],
        said: [String]
    ) throws {
        var world = try ConnectionWorld.greeted {
            $0.onOpen = [
                try Scripted.expect(.prefix("hello")),
                try Scripted.send("for a", when: .message(.contains(Needle(" a")))),
                try Scripted.send("known", when: .captured("who")),
                try Scripted.send("first time", when: .notCaptured("who")),
            ]
            $0.rules = [
                try Scripted.rule(.prefix("{")) { $0.capture = try Scripted.capture([("who", "/who")]) }
            ]
        }
        for text in greetings { try world.socket(.text(text)) }
        #expect(world.saidTexts == said)
        // It is known from then on, over reconnects.
        try world.socket(.text(#"{"who":1}"#))
        try world.socket(.ended(error: nil))
        try world.advance(.seconds(1))
        try world.socket(.plainlyOpened)
        try world.socket(.text("hello c"))
        #expect(world.saidTexts == said + ["known"])
        #expect(world.machine.isReady)
    }

    @Test func `may be of sends alone`() throws {
        let world = try ConnectionWorld.greeted {
            $0.onOpen = [try Scripted.send("a"), try Scripted.send("b")]
        }
        #expect(world.saidTexts == ["a", "b"])
        #expect(world.machine.isReady)
    }

    @Test func `fails when nothing comes, and the retry policy follows`() throws {
        var world = try ConnectionWorld.greeted {
            $0.onOpen = [try Scripted.send("who is there?"), try Scripted.expect(.any, timeout: .seconds(3))]
            $0.reconnect.maxRetries = 1
            $0.closeTimeout = .seconds(1)
        }
        try world.advance(.seconds(2))
        // From here on the upstream has its time.
        try world.writeScript(1)
        let early = try world.advance(.milliseconds(2999))
        #expect(early.records.isEmpty)
        let late = try world.advance(.milliseconds(1))
        #expect(late.contains(.sendClose(world.id, code: 1000, reason: "")))
        #expect(world.failures.map(\.phase) == [.onOpen])
        #expect(
            world.failures[0].error == "step 2 of onOpen: no message came that it expects, within 3000 ms"
        )
        #expect(world.machine.standing == .closing)
        try world.advance(.seconds(1))
        #expect(world.machine.standing == .waiting)
        #expect(world.machine.attempt == 1)
        try world.advance(.seconds(1))
        try world.socket(.plainlyOpened)
        try world.advance(.seconds(3))
        try world.advance(.seconds(1))
        #expect(world.machine.standing == .failed)
        #expect(world.records.last == .gaveUp(attempts: 1))
        #expect(!world.records.contains(.ready))
    }

    @Test func `gives what the rate holds back its time`() throws {
        var world = try ConnectionWorld.greeted {
            $0.onOpen = [
                try Scripted.send("a"), try Scripted.send("b"), try Scripted.send("c"),
                try Scripted.expect(.any, timeout: .seconds(1)),
            ]
            $0.rate = RateSettings(messages: 1, per: .seconds(10))
        }
        for _ in 0..<3 {
            let meanwhile = try world.advance(.seconds(10))
            #expect(meanwhile.records.isEmpty)
            try world.writeScript(1)
        }
        let end = try world.advance(.seconds(1))
        #expect(end.records.count == 1)
    }

    @Test(arguments: [
        (SocketEvent.closeFrame(code: 4004, reason: "no"), UInt16(4004)), (.ended(error: nil), 1006),
    ])
    func `tells that the upstream ended it, and how`(event: SocketEvent, code: UInt16) throws {
        var world = try ConnectionWorld.greeted {
            $0.onOpen = [try Scripted.expect(.any)]
            $0.reconnect.stopOnCloseCodes = [4004...4004]
        }
        try world.socket(event)
        try world.socket(.ended(error: nil))
        #expect(world.failures.map(\.error) == ["the connection ended during step 1 of onOpen"])
        let closes = world.records.compactMap {
            if case .closed(let code, _, _, _) = $0 { code } else { nil }
        }
        #expect(closes == [code])
        #expect(world.machine.standing == (code == 4004 ? .closed : .waiting))
    }

    @Test(arguments: [false, true])
    func `fails at once where a rule says so, and not only when its time is over`(isFinal: Bool) throws {
        var world = try ConnectionWorld.greeted {
            $0.onOpen = [try Scripted.send("subscribe"), try Scripted.expect(Scripted.json("/type", "ok"))]
            $0.rules = [
                try Scripted.rule(Scripted.json("/type", "error")) {
                    $0.action = isFinal ? .stop : .reconnect
                }
            ]
        }
        let refusal = try world.socket(.text(#"{"type":"error","why":"no such channel"}"#))
        #expect(world.failures.map(\.phase) == [.onOpen])
        #expect(refusal.delivered.count == 1)
        #expect(world.machine.standing == .closing)
        try world.socket(.closeFrame(code: 1000, reason: ""))
        try world.socket(.ended(error: nil))
        #expect(world.machine.standing == (isFinal ? .closed : .waiting))
    }

    @Test func `ends with what a user asks for, which is no failure`() throws {
        for request in [
            ConnectionMachine.Event.disconnectRequested(code: 1000, reason: ""), .pauseRequested,
            .stopRequested,
            .reconnectRequested,
        ] {
            var world = try ConnectionWorld.greeted { $0.onOpen = [try Scripted.expect(.any)] }
            try world.tell(request)
            if world.machine.standing == .closing {
                try world.socket(.closeFrame(code: 1000, reason: ""))
                try world.socket(.ended(error: nil))
            }
            #expect(world.failures.isEmpty)
            #expect(world.machine.standing != .open)
        }
    }

    @Test func `fails where its template makes no message`() throws {
        let binary = OpenStep(.send(try MessageTemplate(base64: "{{/x}}")))
        var world = try ConnectionWorld.greeted { $0.onOpen = [try Scripted.expect(.any), binary] }
        try world.socket(.text(#"{"x":"no base64"}"#))
        #expect(world.failures.map(\.phase) == [.onOpen])
        #expect(world.machine.standing == .closing)
    }

    @Test func `begins its heartbeats and its time to be stable when it is over`() throws {
        var world = try ConnectionWorld.greeted {
            $0.onOpen = [try Scripted.expect(.equals("go"), timeout: .seconds(100))]
            $0.heartbeat.interval = .seconds(20)
        }
        let waiting = try world.advance(.seconds(50))
        #expect(waiting.pings.isEmpty)
        let ready = try world.socket(.text("go"))
        #expect(ready.timers == [.seconds(10), .seconds(20)])
    }
}

/// What is captured of messages.
@Suite struct `Captured variables` {
    @Test func `are what the last message says, and nothing where it says nothing`() throws {
        let capture = try Scripted.capture([("a", "/a"), ("b", "/b/0")])
        var variables = Variables()
        let steps = [
            (#"{"a":"x","b":[1]}"#, ["a": #""x""#, "b": "1"]), (#"{"a":{"c":2}}"#, ["a": #"{"c":2}"#]),
            ("no JSON", ["a": #"{"c":2}"#]), (#"{"a":null,"b":[true]}"#, ["b": "true"]), ("[]", [:]),
        ]
        for (text, expected) in steps {
            variables.capture(capture, from: Message(.text, Array(text.utf8)))
            #expect(variables.values.mapValues { String(decoding: $0, as: UTF8.self) } == expected)
        }
        let long = #"{"a":"\#(String(repeating: "x", count: Variables.longest))","b":[1]}"#
        variables.capture(capture, from: Message(.text, Array(long.utf8)))
        #expect(variables.values.keys.sorted() == ["b"])
    }

    @Test func `of a session are forgotten with a close code that ends it`() throws {
        for (code, isKnown) in [(UInt16(4009), false), (4000, true)] {
            var world = try ConnectionWorld.greeted {
                $0.rules = [try Scripted.rule(.any) { $0.capture = try Scripted.capture([("url", "/url")]) }]
                $0.resumeURL = try ResumeURL("{{var:url}}")
                $0.reconnect.forgetOnCloseCodes = [4007...4007, 4009...4009]
            }
            try world.socket(.text(#"{"url":"ws://b"}"#))
            try world.socket(.closeFrame(code: code, reason: ""))
            try world.socket(.ended(error: nil))
            let due = try #require(world.nextTimer)
            #expect(try world.advance(due.at - world.now).elsewhere.isEmpty != isKnown)
        }
    }

    @Test func `go with settings that do not capture them`() throws {
        var world = try ConnectionWorld.greeted {
            $0.rules = [
                try Scripted.rule(.any) { $0.capture = try Scripted.capture([("a", "/a"), ("b", "/b")]) }
            ]
        }
        try world.socket(.text(#"{"a":1,"b":2}"#))
        var settings = ConnectionSettings()
        settings.rules = [try Scripted.rule(.any) { $0.capture = try Scripted.capture([("b", "/c")]) }]
        let successor = world.machine.successor(settings, supply: .listed(count: 1))
        #expect(successor.variables.values.keys.sorted() == ["b"])
    }
}
