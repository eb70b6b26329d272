import Testing
import WebSocketProtocol

@testable import BridgeCore

/// What shows that the peer is alive.
@Suite struct `A peer is alive` {
    static let interval = Duration.seconds(20)

    private let ping: MessageTemplate

    init() throws {
        ping = try MessageTemplate(text: "ping")
    }

    private func world(_ configure: (inout HeartbeatSettings) -> Void) throws -> ConnectionWorld {
        try ConnectionWorld.open { configure(&$0.heartbeat) }
    }

    @Test func `by an answer alone, however much it chatters`() throws {
        var world = try world {
            $0.send = .message(ping)
            $0.alive = .answer
        }
        var records: [Lifecycle] = []
        for _ in 0..<60 {
            records += try world.socket(.text("chatter")).records
            try world.socket(.ping([1]))
            try world.socket(.pong([1]))
            try world.tell(.readProgressed(SocketID(1)))
            let actions = try world.advance(.seconds(1))
            records += actions.records
            if !actions.beats.isEmpty { try world.writeHeartbeat() }
        }
        #expect(
            records.prefix(3) == [.heartbeatMissed(misses: 1), .heartbeatMissed(misses: 2), .heartbeatLost]
        )
    }

    @Test func `by messages, but not by frames of the protocol, where messages count`() throws {
        for isSilent in [false, true] {
            var world = try world {
                $0.send = .none
                $0.alive = .message
                $0.missLimit = 2
            }
            for _ in 0..<100 where world.machine.standing == .open {
                if !isSilent { try world.socket(.text("news")) }
                try world.socket(.ping([1]))
                try world.tell(.readProgressed(world.id))
                try world.advance(.seconds(1))
            }
            #expect((world.machine.standing == .open) == !isSilent)
        }
    }

    @Test func `by an answer, which ends the misses`() throws {
        var world = try world {
            $0.send = .message(ping)
            $0.alive = .answer
        }
        try world.beat(Self.interval)
        for _ in 0..<5 {
            let missed = try world.advance(Self.interval)
            #expect(missed.records == [.heartbeatMissed(misses: 1)])
            try world.writeHeartbeat()
            try world.socket(.text("pong"))
            #expect(world.machine.pulse?.misses == 0)
            try world.beat(Self.interval)
        }
        #expect(world.machine.standing == .open)
    }

    @Test func `by the pong for one of our pings, and by no other, where only answers count`() throws {
        var world = try world { $0.alive = .answer }
        let payload = try world.beat(Self.interval)
        try world.socket(.pong([1, 2, 3]))
        let missed = try world.advance(Self.interval)
        #expect(missed.records == [.heartbeatMissed(misses: 1)])
        try world.socket(.pong(payload))
        #expect(world.machine.pulse?.misses == 0)
    }

    @Test func `by what it sends unasked, where it is only listened to`() throws {
        var world = try world { $0.send = .none }
        for _ in 0..<5 {
            try world.socket(.text("news"))
            let actions = try world.advance(Self.interval)
            #expect(actions.records.isEmpty)
            #expect(actions.pings.isEmpty)
        }
        let silence = try world.advance(Self.interval * 2)
        #expect(
            silence.records.prefix(3) == [
                .heartbeatMissed(misses: 1), .heartbeatMissed(misses: 2), .heartbeatLost,
            ]
        )
        #expect(world.machine.heartbeatsSent == 0)
    }

    @Test func `by its own heartbeats alone, where only they count`() throws {
        var world = try world {
            $0.send = .none
            $0.expect = .equals("ping")
            $0.alive = .answer
            $0.missLimit = 1
        }
        try world.socket(.text("ping"))
        let fine = try world.advance(Self.interval)
        try world.socket(.text("chatter"))
        let lost = try world.advance(Self.interval)
        #expect(fine.records.isEmpty)
        #expect(lost.records.prefix(2) == [.heartbeatMissed(misses: 1), .heartbeatLost])
    }

    // MARK: Where the answer may stand behind something

    @Test func `while a large message comes in front of its answer`() throws {
        var world = try world {
            $0.alive = .answer
            $0.missLimit = 1
        }
        let payload = try world.beat(Self.interval)
        for _ in 0..<10 {
            try world.tell(.readProgressed(SocketID(1), .insideMessage))
            let actions = try world.advance(Self.interval)
            #expect(actions.records.isEmpty)
            #expect(actions.pings.isEmpty)
        }
        try world.socket(.text("large"))
        try world.socket(.pong(payload))
        #expect(world.machine.pulse?.misses == 0)
    }

    @Test func `not because of a message that has stopped coming`() throws {
        var world = try world {
            $0.alive = .answer
            $0.missLimit = 1
        }
        try world.beat(Self.interval)
        try world.tell(.readProgressed(SocketID(1), .insideMessage, hasGrown: false))
        let actions = try world.advance(Self.interval)
        #expect(actions.records.prefix(2) == [.heartbeatMissed(misses: 1), .heartbeatLost])
    }

    @Test func `not because one of many messages is just coming`() throws {
        var world = try world {
            $0.alive = .answer
            $0.missLimit = 1
        }
        try world.beat(Self.interval)
        try world.advance(.seconds(15))
        try world.socket(.text("chatter"))
        try world.advance(.milliseconds(4999))
        try world.tell(.readProgressed(SocketID(1), .insideMessage))
        let actions = try world.advance(.milliseconds(1))
        #expect(actions.records.prefix(2) == [.heartbeatMissed(misses: 1), .heartbeatLost])
    }

    @Test(arguments: HeartbeatSettings.Life.allCases)
    func `as long as what it sent lies unread here`(alive: HeartbeatSettings.Life) throws {
        var world = try world {
            $0.alive = alive
            $0.missLimit = 1
        }
        try world.beat(Self.interval)
        for _ in 0..<5 {
            try world.tell(.readProgressed(SocketID(1), .unread, hasGrown: false))
            let actions = try world.advance(Self.interval)
            #expect(actions.records.isEmpty)
        }
        try world.tell(.readProgressed(SocketID(1), .betweenMessages, hasGrown: false))
        let actions = try world.advance(Self.interval)
        #expect(actions.records.first == .heartbeatMissed(misses: 1))
    }

    @Test func `while it sends and only our heartbeat cannot get through to it`() throws {
        var world = try world {
            $0.alive = .answer
            $0.missLimit = 1
        }
        try world.advance(Self.interval)
        for _ in 0..<5 {
            try world.socket(.text("news"))
            let actions = try world.advance(Self.interval)
            #expect(actions.records.isEmpty)
        }
    }

    // MARK: After sleep

    @Test func `or asked at once after the process was stopped or the machine slept`() throws {
        var world = try world { $0.missLimit = 1 }
        try world.beat(Self.interval)
        world.suspend(.seconds(19))
        let woken = try world.tell(.woke)
        #expect(woken.pings.count == 1)
        try world.writeHeartbeat()
        let early = try world.advance(.milliseconds(19_999))
        #expect(early.records.isEmpty)
        let lost = try world.advance(.milliseconds(1))
        #expect(lost.records.prefix(2) == [.heartbeatMissed(misses: 1), .heartbeatLost])
    }

    @Test func `and not asked twice while the question has not even left`() throws {
        var world = try world { _ in }
        try world.advance(Self.interval)
        let woken = try world.tell(.woke)
        #expect(woken.pings.isEmpty)
    }

    @Test
    func `and not asked after sleep where heartbeats are off, or nothing is ever sent, or it is not there`()
        throws
    {
        var off = try world { $0.interval = .zero }
        let nothing = try off.tell(.woke)
        #expect(nothing.isEmpty)
        var listening = try world { $0.send = .none }
        let actions = try listening.tell(.woke)
        #expect(actions.pings.isEmpty)
        #expect(actions.timers == [Self.interval])
        var waiting = try world { _ in }
        try waiting.socket(.ended(error: nil))
        let nobody = try waiting.tell(.woke)
        #expect(nobody.isEmpty)
    }

    // MARK: How long it takes to be found lost

    @Test(arguments: 1...5, [false, true])
    func `or lost when its first unanswered heartbeat is interval × missLimit old`(
        limit: Int,
        isText: Bool
    ) throws {
        var world = try world {
            $0.missLimit = limit
            if isText { $0.send = .message(ping) }
            $0.interval = .seconds(2)
        }
        try world.beat(.seconds(2))
        try world.socket(.text("the last word"))
        try world.beat(.seconds(2))
        let asked = world.now
        while world.machine.standing == .open {
            try world.advance(.milliseconds(10))
            try world.writeHeartbeat()
        }
        #expect(world.now - asked == .seconds(2) * limit)
        #expect(world.records.filter { $0 == .heartbeatLost }.count == 1)
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `or lost in time, whatever is written slowly, comes in part or chatters`(seed: UInt64) throws {
        var walk = try LivenessWalk(seed: seed)
        try walk.run()
    }
}
