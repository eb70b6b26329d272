import Testing
import WebSocketProtocol

@testable import BridgeCore

/// One socket takes the place of another before that is closed.
@Suite struct `A rotation` {
    private static func world(
        _ configure: (inout ConnectionSettings) throws -> Void = { _ in }
    ) throws -> ConnectionWorld {
        try ConnectionWorld.greeted {
            $0.rules = [
                try Scripted.rule(.prefix("swap")) { $0.action = .rotate(url: nil) },
                try Scripted.rule(.prefix("{")) {
                    $0.action = .rotate(url: JSONPointer("/url"))
                    $0.topic = try TopicTemplate("moved")
                },
                try Scripted.rule(.equals("q")) { $0.reply = try MessageTemplate(text: "a") },
            ]
            try configure(&$0)
        }
    }

    private static func other(_ world: ConnectionWorld) throws -> SocketID {
        try #require(world.others.keys.max { $0.number < $1.number })
    }

    @Test func `dials, says its script, waits for the old one, and takes over`() throws {
        var world = try Self.world {
            $0.onOpen = [try Scripted.send("hi {{counter}}"), try Scripted.expect(.equals("welcome"))]
        }
        try world.socket(.text("welcome"))
        let old = world.id
        let begin = try world.socket(.text("swap please"))
        #expect(begin.dials == 1)
        let new = try Self.other(world)
        #expect(world.machine.isReady)
        try world.other(.plainlyOpened)
        #expect(world.saidTexts == ["hi 1", "hi 1"])
        // Both are heard meanwhile.
        try world.socket(.text("old"))
        try world.other(.text("new"))
        let ready = try world.other(.text("welcome"))
        #expect(ready.contains(.drain(old)))
        #expect(world.socket?.id == old)
        let over = try world.tell(.drained(old))
        #expect(over.contains(.sendClose(old, code: 1000, reason: "")))
        #expect(over.contains(.adopt(new)))
        #expect(over.records == [.rotated])
        #expect(world.id == new)
        #expect(world.machine.isReady)
        // What the old one says before it knows is not lost, and pings are answered.
        try world.tell(.socket(old, .text("late")))
        #expect(try world.tell(.socket(old, .ping([1]))) == [.sendPong(old, [1])])
        try world.tell(.socket(old, .closeFrame(code: 1000, reason: "")))
        try world.tell(.socket(old, .ended(error: nil)))
        #expect(world.deliveredTexts == ["swap please", "old", "new", "late"])
        let open = Lifecycle.open(subprotocol: nil, reconnected: false)
        #expect(world.records == [.connecting, open, .ready, .rotated])
        #expect(world.others.isEmpty)
        #expect(try world.advance(.seconds(20)).pings.count == 1)
    }

    @Test func `goes to the URL in the message`() throws {
        var world = try Self.world()
        let begin = try world.socket(.text(#"{"url":"wss://b.example/x?y"}"#))
        #expect(begin.elsewhere == [try WebSocketURL.hidden("wss://b.example/x?y")])
        #expect(world.topics == ["moved"])
        try world.other(.plainlyOpened)
        try world.tell(.drained(world.id))
        #expect(world.machine.elsewhere == (try WebSocketURL.hidden("wss://b.example/x?y")))
    }

    @Test(arguments: [
        (#"{"url":7}"#, "must start with"), ("{}", "there is nothing"),
        (#"{"url":"ws+unix:/x"}"#, "unix socket"),
        (#"{"url":"wss://h/#f"}"#, "fragment"), (#"{"url":"wss://u:p@h/"}"#, "user name"),
        (#"{"url":"/next"}"#, "must start with"),
    ])
    func `without a URL is a failure on record, and the old one stays`(message: String, why: String) throws {
        var world = try Self.world()
        try world.socket(.text(message))
        #expect(world.failures.map(\.phase) == [.url])
        #expect(world.failures.allSatisfy { $0.error.contains(why) })
        #expect(world.machine.isReady)
        #expect(world.others.isEmpty)
    }

    @Test func `closes the old one in order though a request there got no answer`() throws {
        for isFlushed in [true, false] {
            var world = try Self.world()
            let old = world.id
            try world.socket(.text("swap"))
            try world.other(.plainlyOpened)
            if isFlushed { try world.tell(.flushed(old)) }
            let over = try world.advance(ConnectionSettings().closeTimeout)
            #expect(over.contains(.sendClose(old, code: 1000, reason: "")) == isFlushed)
            #expect(over.contains(.drop(old)) == !isFlushed)
            #expect(world.records.last == .rotated)
        }
    }

    @Test func `asks whoever knows the URL`() throws {
        var settings = ConnectionSettings()
        settings.rules = [try Scripted.rule(.equals("swap")) { $0.action = .rotate(url: nil) }]
        var world = ConnectionWorld(supply: .asked(timeout: .seconds(3))) { $0 = settings }
        try world.tell(.started)
        try world.tell(.urlFound(world.id))
        try world.socket(.plainlyOpened)
        let begin = try world.socket(.text("swap"))
        let new = try Self.other(world)
        #expect(begin.contains(.askForURL(new)))
        #expect(try world.tell(.urlFound(new)).contains(.dial(new)))
        try world.other(.plainlyOpened)
        try world.tell(.drained(world.id))
        #expect(world.records.last == .rotated)
    }

    @Test(arguments: [SocketEvent.refused, .ended(error: nil)])
    func `that fails to connect leaves the old one`(event: SocketEvent) throws {
        var world = try Self.world()
        let old = world.id
        try world.socket(.text("swap"))
        try world.other(event)
        #expect(world.failures.count == 1)
        #expect(world.id == old)
        #expect(world.machine.isReady)
        #expect(world.others.isEmpty)
    }

    @Test func `has its time, as every attempt`() throws {
        var world = try Self.world { $0.onOpen = [try Scripted.expect(.equals("hi"))] }
        try world.socket(.text("hi"))
        try world.socket(.text("swap"))
        try world.advance(.seconds(10))
        #expect(world.failures.map(\.phase) == [.dns])
        try world.advance(.milliseconds(500))
        try world.other(.plainlyOpened)
        try world.advance(.seconds(5))
        #expect(world.failures.map(\.phase) == [.dns, .onOpen])
        #expect(world.others.isEmpty)
        #expect(world.machine.isReady)
    }

    @Test(arguments: [
        SocketEvent.closeFrame(code: 4000, reason: ""), .violation(WebSocketFailure(1002, "x")),
        .ended(error: nil),
    ])
    func `whose new socket ends leaves the old one`(event: SocketEvent) throws {
        for isReady in [false, true] {
            var world = try Self.world { $0.onOpen = [try Scripted.expect(.equals("hi"))] }
            try world.socket(.text("hi"))
            let old = world.id
            try world.socket(.text("swap"))
            try world.other(.plainlyOpened)
            if isReady { try world.other(.text("hi")) }
            #expect((world.draining != nil) == isReady)
            try world.other(event)
            #expect(world.failures.map(\.phase) == [.onOpen])
            #expect(world.id == old)
            #expect(world.draining == nil)
            #expect(world.others.isEmpty)
        }
    }

    @Test func `drops the old one when that does not get rid of what it has`() throws {
        var world = try Self.world { $0.closeTimeout = .seconds(2) }
        let old = world.id
        try world.socket(.text("swap"))
        try world.other(.plainlyOpened)
        let over = try world.advance(.seconds(2))
        #expect(over.contains(.drop(old)))
        #expect(over.records == [.rotated])
        #expect(world.others.isEmpty)
    }

    @Test func `becomes the connection when the old one ends too soon`() throws {
        for event in [SocketEvent.ended(error: nil), .closeFrame(code: 4004, reason: "late")] {
            var world = try Self.world { $0.onOpen = [try Scripted.expect(.equals("hi"))] }
            try world.socket(.text("hi"))
            try world.socket(.text("swap"))
            let new = try Self.other(world)
            // While it is dialled.
            try world.socket(event)
            #expect(world.machine.standing == .connecting)
            #expect(world.id == new)
            try world.socket(.plainlyOpened)
            // While its script runs, and the old one is that one now.
            try world.socket(.text("hi"))
            #expect(world.machine.isReady)
            try world.advance(.seconds(11))
            try world.socket(.text("swap"))
            try world.other(.plainlyOpened)
            try world.socket(event)
            #expect(!world.machine.isReady)
            #expect(world.machine.standing == .open)
            try world.socket(.text("hi"))
            #expect(world.machine.isReady)
            #expect(world.records.filter { $0 == .ready }.count == 3)
            #expect(!world.records.contains { if case .reconnecting = $0 { true } else { false } })
        }
    }

    @Test func `takes over at once when the old one ends while it waits for it`() throws {
        var world = try Self.world()
        try world.socket(.text("swap"))
        let new = try Self.other(world)
        try world.other(.plainlyOpened)
        try world.socket(.ended(error: nil))
        #expect(world.id == new)
        #expect(world.machine.isReady)
        #expect(world.records.last == .rotated)
    }

    @Test func `is not begun twice, nor again and again`() throws {
        var world = try Self.world { $0.reconnect.resetAfter = .seconds(10) }
        #expect(try world.socket(.text("swap")).dials == 1)
        #expect(try world.socket(.text("swap")).dials == 0)
        try world.other(.plainlyOpened)
        try world.tell(.drained(world.id))
        try world.advance(.seconds(9))
        // So soon again: it is met with the retry policy.
        try world.socket(.text("swap"))
        #expect(world.machine.standing == .closing)
        #expect(world.others.isEmpty)
    }

    @Test func `ends with the connection`() throws {
        for request in [
            ConnectionMachine.Event.disconnectRequested(code: 1000, reason: ""), .pauseRequested,
            .stopRequested,
            .reconnectRequested, .networkLost,
        ] {
            for stage in 0..<4 {
                var world = try Self.world()
                try world.socket(.text("swap"))
                if stage > 0 { try world.other(.plainlyOpened) }
                if stage > 1 { try world.tell(.drained(world.id)) }
                if stage > 2 {
                    try world.advance(.milliseconds(1))
                    try world.other(.closeFrame(code: 1000, reason: ""))
                }
                try world.tell(request)
                try world.advance(.seconds(5))
                #expect(world.others.isEmpty)
                #expect(world.draining == nil)
            }
        }
    }

    @Test func `answers on the socket that was asked on`() throws {
        var world = try Self.world { $0.onOpen = [try Scripted.expect(.equals("hi"))] }
        try world.socket(.text("hi"))
        try world.socket(.text("swap"))
        try world.other(.plainlyOpened)
        let new = try Self.other(world)
        let message = Message(.text, Array("a".utf8))
        #expect(try world.other(.text("q")).contains(.sendReply(new, message, as: .ruleReply(bytes: 1))))
        #expect(
            try world.socket(.text("q")).contains(.sendReply(world.id, message, as: .ruleReply(bytes: 1)))
        )
    }
}
