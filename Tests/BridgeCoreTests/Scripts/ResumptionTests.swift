import Testing
import WebSocketProtocol

@testable import BridgeCore

/// Where a session goes on.
@Suite struct `A session to resume` {
    private static func world(
        after wish: ConnectionMachine.Event = .started,
        _ configure: (inout ConnectionSettings) -> Void = { _ in }
    ) throws -> ConnectionWorld {
        var settings = ConnectionSettings()
        settings.onOpen = [try Scripted.expect(.prefix("{"), capture: [("where", "/url")])]
        settings.resumeURL = try ResumeURL("{{var:where}}/?v=10")
        settings.reconnect.jitter = 0
        configure(&settings)
        var world = ConnectionWorld { $0 = settings }
        try world.tell(wish)
        try world.socket(.plainlyOpened)
        try world.socket(.text(#"{"url":"wss:\/\/b.example"}"#))
        return world
    }

    private static func reconnect(_ world: inout ConnectionWorld) throws -> [ConnectionMachine.Action] {
        try world.socket(.ended(error: nil))
        return try next(&world)
    }

    /// Lets the next wait pass, which is that before a dial.
    private static func next(_ world: inout ConnectionWorld) throws -> [ConnectionMachine.Action] {
        let due = try #require(world.nextTimer)
        return try world.advance(due.at - world.now)
    }

    @Test func `is dialled in place of the URL while its variables are known`() throws {
        var world = try Self.world()
        let resumed = try Self.reconnect(&world)
        #expect(resumed.elsewhere == [try WebSocketURL.hidden("wss://b.example/?v=10")])
        #expect(world.machine.elsewhere != nil)
        try world.socket(.plainlyOpened)
        try world.socket(.text(#"{"url":"wss:\/\/b.example"}"#))
        #expect(world.machine.isReady)
        // It worked, so it is tried again.
        let again = try Self.reconnect(&world)
        #expect(again.elsewhere.count == 1)
    }

    @Test(arguments: ["nonsense", "ws://u:p@h", "ws+unix:/x", "wss://h/#f"])
    func `that cannot be dialled is forgotten at once, with a warning`(url: String) throws {
        var world = try Self.world()
        try world.socket(.ended(error: nil))
        try Self.capture(url, &world)
        #expect(world.machine.variables.has("where"))
        try world.socket(.ended(error: nil))
        let next = try Self.next(&world)
        #expect(next.elsewhere.isEmpty)
        #expect(!world.machine.variables.has("where"))
        #expect(world.warnings.count == 1)
        #expect(!world.warnings[0].contains(url))
    }

    private static func capture(_ url: String, _ world: inout ConnectionWorld) throws {
        _ = try next(&world)
        try world.socket(.plainlyOpened)
        try world.socket(.text(#"{"url":"\#(url)"}"#))
    }

    @Test(arguments: [SocketEvent.refused, .ended(error: nil)])
    func `is forgotten when the attempt fails`(event: SocketEvent) throws {
        var world = try Self.world()
        _ = try Self.reconnect(&world)
        try world.socket(event)
        let next = try Self.next(&world)
        #expect(next.elsewhere.isEmpty)
        #expect(next.dials == 1)
        #expect(world.machine.elsewhere == nil)
    }

    @Test func `is forgotten when its script fails`() throws {
        for end in [SocketEvent.ended(error: nil), .closeFrame(code: 4009, reason: "")] {
            var world = try Self.world()
            _ = try Self.reconnect(&world)
            try world.socket(.plainlyOpened)
            try world.socket(end)
            if world.socket != nil { try world.socket(.ended(error: nil)) }
            #expect(try Self.next(&world).elsewhere.isEmpty)
        }
    }

    @Test(arguments: [
        (ConnectionMachine.Event.disconnectRequested(code: 1000, reason: ""), true),
        (.disconnectRequested(code: 1001, reason: ""), true),
        (.disconnectRequested(code: 4000, reason: ""), false),
        (.pauseRequested, true), (.stopRequested, true),
    ])
    func `is forgotten when it is closed for good`(wish: ConnectionMachine.Event, isOver: Bool) throws {
        var world = try Self.world()
        try world.tell(wish)
        #expect((world.machine.resumption == nil) == isOver)
    }

    @Test func `is forgotten when nobody needs the connection`() throws {
        var world = try Self.world(after: .connectRequested) {
            $0.connect = .onDemand
            $0.heartbeat.interval = .zero
        }
        try world.advance(.seconds(60))
        #expect(world.machine.standing == .closing)
        #expect(world.machine.resumption == nil)
    }

    @Test func `is kept when the user wants another socket, and not ended by a close frame`() throws {
        var world = try Self.world()
        let actions = try world.tell(.reconnectRequested)
        #expect(actions.elsewhere == [try WebSocketURL.hidden("wss://b.example/?v=10")])
        #expect(!actions.contains { if case .sendClose = $0 { true } else { false } })
    }

    @Test(arguments: [#"{"url":null}"#, #"{"url":"unix"}"#, #"{"url":"ws://u:p@b"}"#, #"{"url":7}"#])
    func `is none where no URL was captured that may be dialled`(message: String) throws {
        var world = try Self.world()
        _ = try Self.reconnect(&world)
        try world.socket(.plainlyOpened)
        try world.socket(.text(message))
        let next = try Self.reconnect(&world)
        #expect(next.elsewhere.isEmpty)
        #expect(next.dials == 1)
    }

    @Test(arguments: ["", "ws://a", "{{var:a}}{{now}}", "{{/a}}", "{{var:}}"])
    func `is a template of variables alone`(text: String) {
        #expect(throws: MalformedValue.self) { try ResumeURL(text) }
    }
}
