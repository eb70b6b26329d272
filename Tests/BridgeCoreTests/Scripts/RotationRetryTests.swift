import Testing
import WebSocketProtocol

@testable import BridgeCore

/// A new socket failed, and the old one, which may end soon, is still there.
@Suite struct `A rotation that failed` {
    /// Asked for another socket, at the URL in the message if there is one.
    private static func world(
        swap: String? = "swap",
        _ configure: (inout ConnectionSettings) throws -> Void = { _ in }
    ) throws -> ConnectionWorld {
        var world = try ConnectionWorld.greeted {
            $0.rules = [
                try Scripted.rule(.prefix("swap")) { $0.action = .rotate(url: nil) },
                try Scripted.rule(.prefix("{")) { $0.action = .rotate(url: JSONPointer("/url")) },
                try Scripted.rule(.equals("stop")) { $0.action = .stop },
                try Scripted.rule(.equals("again")) { $0.action = .reconnect },
            ]
            $0.reconnect.initialDelay = .seconds(1)
            $0.reconnect.jitter = 0
            $0.heartbeat.interval = .zero
            try configure(&$0)
        }
        if let swap { try world.socket(.text(swap)) }
        return world
    }

    @Test func `is tried again by the retry policy, at the same place, while the old socket goes on`() throws
    {
        let url = try WebSocketURL.hidden("wss://b.example/x")
        var world = try Self.world(swap: #"{"url":"wss://b.example/x"}"#)
        let old = world.id
        for delay in [1, 2, 4] {
            try world.other(.refused)
            #expect(world.others.isEmpty)
            let early = try world.advance(.seconds(delay) - .milliseconds(1))
            #expect(early.elsewhere.isEmpty)
            #expect(try world.advance(.milliseconds(1)).elsewhere == [url])
        }
        #expect(world.failures.count == 3)
        #expect(world.id == old)
        #expect(world.machine.isReady)
        try world.other(.plainlyOpened)
        try world.tell(.drained(old))
        #expect(world.records.last == .rotated)
        #expect(!world.records.contains { if case .reconnecting = $0 { true } else { false } })
    }

    @Test func `counts from the start again once one took over`() throws {
        var world = try Self.world { $0.reconnect.resetAfter = .zero }
        try world.other(.refused)
        try world.advance(.seconds(1))
        try world.other(.plainlyOpened)
        try world.tell(.drained(world.id))
        try world.socket(.text("swap"))
        try world.other(.refused)
        #expect(try world.advance(.seconds(1)).dials == 1)
    }

    @Test func `follows the newest word of where to go, and is not hurried by it`() throws {
        var world = try Self.world(swap: #"{"url":"ws://b.example/1"}"#)
        try world.other(.refused)
        let hurry = try world.socket(.text(#"{"url":"ws://b.example/2"}"#))
        #expect(hurry.elsewhere.isEmpty)
        try world.socket(.text(#"{"url":null}"#))
        #expect(try world.advance(.seconds(1)).elsewhere == [try WebSocketURL.hidden("ws://b.example/2")])
    }

    @Test func `keeps the time that the upstream asks for`() throws {
        var world = try Self.world()
        try world.other(.answered(503, retryAfter: .seconds(7)))
        #expect(try world.advance(.milliseconds(6999)).dials == 0)
        #expect(try world.advance(.milliseconds(1)).dials == 1)
    }

    @Test(arguments: [
        SocketEvent.answered(403), .closeFrame(code: 4004, reason: ""), .text("stop"),
    ])
    func `is not tried again where that is the last word`(event: SocketEvent) throws {
        var world = try Self.world {
            $0.reconnect.stopOnStatus = [403]
            $0.reconnect.stopOnCloseCodes = [4000...4010]
        }
        if event != .answered(403) { try world.other(.plainlyOpened) }
        try world.other(event)
        #expect(world.failures.count == 1)
        #expect(world.timers.count == 1)
        #expect(try world.advance(.seconds(100)).dials == 0)
        #expect(world.machine.isReady)
    }

    @Test(arguments: [
        SocketEvent.closeFrame(code: 1012, reason: ""), .violation(WebSocketFailure(1002, "x")),
        .ended(error: nil), .text("again"),
    ])
    func `is tried again after any other end`(event: SocketEvent) throws {
        for isReady in [false, true] {
            var world = try Self.world(swap: nil) { $0.onOpen = [try Scripted.expect(.equals("hi"))] }
            try world.socket(.text("hi"))
            try world.socket(.text("swap"))
            try world.other(.plainlyOpened)
            if isReady { try world.other(.text("hi")) }
            try world.other(event)
            #expect(world.draining == nil)
            #expect(try world.advance(.seconds(1)).dials == 1)
        }
    }

    @Test func `is not tried again without a policy, or beyond its end`() throws {
        for isEnabled in [false, true] {
            var world = try Self.world {
                $0.reconnect.enabled = isEnabled
                $0.reconnect.maxRetries = 1
            }
            try world.other(.refused)
            #expect(try world.advance(.seconds(1)).dials == (isEnabled ? 1 : 0))
            if isEnabled { try world.other(.refused) }
            #expect(try world.advance(.seconds(100)).dials == 0)
            #expect(world.machine.isReady)
            // Another may be asked for.
            #expect(try world.socket(.text("swap")).dials == 1)
        }
    }

    @Test(arguments: [SocketEvent.ended(error: nil), .closeFrame(code: 4004, reason: "late")])
    func `has no use any more when the old one ends`(event: SocketEvent) throws {
        var world = try Self.world(swap: #"{"url":"ws://b.example/"}"#)
        try world.other(.refused)
        try world.socket(event)
        if world.socket != nil { try world.socket(.ended(error: nil)) }
        #expect(world.machine.standing == .waiting)
        #expect(world.timers.count == 1)
        let next = try world.advance(.seconds(1))
        #expect(next.dials == 1)
        #expect(next.elsewhere.isEmpty)
    }

    @Test func `has no use any more when the old one is given up`() throws {
        var world = try Self.world {
            $0.heartbeat.interval = .seconds(3)
            $0.heartbeat.missLimit = 1
            $0.heartbeat.closeCode = 4000
            $0.reconnect.initialDelay = .seconds(60)
        }
        try world.other(.refused)
        try world.beat(.seconds(3))
        try world.advance(.seconds(3))
        #expect(world.machine.standing == .closing)
        #expect(world.timers.count == 1)
    }
}

/// What takes the place of the open socket.
@Suite struct `The socket of a rotation` {
    @Test
    func `gives the next of several URLs its turn where it does not last, however long the old one did`()
        throws
    {
        var settings = ConnectionSettings()
        settings.rules = [try Scripted.rule(.equals("swap")) { $0.action = .rotate(url: nil) }]
        settings.onOpen = [try Scripted.expect(.equals("hi"))]
        var world = ConnectionWorld(supply: .listed(count: 2)) { $0 = settings }
        try world.tell(.started)
        try world.socket(.plainlyOpened)
        try world.socket(.text("hi"))
        // This one has lasted, and the next one has not yet.
        try world.advance(.seconds(10))
        try world.socket(.text("swap"))
        try world.other(.plainlyOpened)
        try world.socket(.ended(error: nil))
        try world.socket(.ended(error: nil))
        #expect(world.machine.urlIndex == 1)
    }

    @Test func `has no heartbeats before it takes over, whatever interval is told on it`() throws {
        var world = try ConnectionWorld.greeted {
            $0.rules = [
                try Scripted.rule(.equals("swap")) { $0.action = .rotate(url: nil) },
                try Scripted.rule(.prefix("[")) { $0.heartbeatInterval = JSONPointer("/0") },
            ]
        }
        try world.socket(.text("swap"))
        try world.other(.plainlyOpened)
        #expect(world.draining != nil)
        let told = try world.other(.text("[7000]"))
        #expect(told.timers.isEmpty)
        try world.tell(.drained(world.id))
        #expect(world.machine.heartbeatInterval == .seconds(7))
        #expect(try world.advance(.seconds(7)).pings.count == 1)
    }
}
