import BridgeCore
import Testing

@Suite struct HeartbeatTests {
    static let interval = Duration.seconds(20)

    @Test func `the first ping goes out one interval after ready`() throws {
        var world = try ConnectionWorld.open()
        let early = try world.advance(.milliseconds(19_999))
        let due = try world.advance(.milliseconds(1))
        #expect(early.pings.isEmpty)
        #expect(due.pings.count == 1)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `first random sends it at a random part of the interval`(seed: UInt64) throws {
        var world = ConnectionWorld(seed: seed) { $0.heartbeat.first = .random }
        try world.tell(.started)
        let actions = try world.socket(.plainlyOpened)
        let wait = try #require(actions.timers.last)
        #expect(wait >= .zero && wait < Self.interval)
    }

    @Test func `first random differs from one bridge to the next`() throws {
        let waits = try (1...20 as ClosedRange<UInt64>).map { seed in
            var world = ConnectionWorld(seed: seed) { $0.heartbeat.first = .random }
            try world.tell(.started)
            return try world.socket(.plainlyOpened).timers.last
        }
        #expect(Set(waits).count == 20)
    }

    @Test func `an interval of zero sends none`() throws {
        var world = try ConnectionWorld.open { $0.heartbeat.interval = .zero }
        let actions = try world.advance(.seconds(86_400))
        #expect(actions.isEmpty)
        #expect(world.timers.isEmpty)
    }

    @Test func `pings differ from one another and between sockets`() throws {
        var payloads: Set<[UInt8]> = []
        var world = try ConnectionWorld.open()
        for _ in 0..<3 {
            payloads.insert(try world.beat(Self.interval))
            try world.socket(.text("life"))
        }
        try world.socket(.ended(error: nil))
        try world.advance(.seconds(1))
        try world.socket(.plainlyOpened)
        payloads.insert(try world.beat(Self.interval))
        #expect(payloads.count == 4)
    }

    @Test func `silence for one interval is a miss, and the next ping goes out with it`() throws {
        var world = try ConnectionWorld.open()
        _ = try world.beat(Self.interval)
        let actions = try world.advance(Self.interval)
        #expect(actions.records == [.heartbeatMissed(misses: 1)])
        #expect(actions.pings.count == 1)
    }

    @Test(arguments: [0, 1])
    func `one miss is the least that loses a connection`(limit: Int) throws {
        var world = try ConnectionWorld.open { $0.heartbeat.missLimit = limit }
        _ = try world.beat(Self.interval)
        let actions = try world.advance(Self.interval)
        #expect(actions.records.prefix(2) == [.heartbeatMissed(misses: 1), .heartbeatLost])
    }

    @Test func `the last miss allowed loses the connection`() throws {
        var world = try ConnectionWorld.open { $0.reconnect.jitter = 0 }
        _ = try world.beat(Self.interval)
        _ = try world.beat(Self.interval)
        let actions = try world.advance(Self.interval)
        let expected: [Lifecycle] = [
            .heartbeatMissed(misses: 2), .heartbeatLost,
            .closed(code: 1006, reason: "", clean: false, by: .bridge),
            .reconnecting(attempt: 1, delay: .milliseconds(500)),
        ]
        #expect(actions.records == expected)
        #expect(actions.drops == 1)
        #expect(actions.pings.isEmpty)
    }

    @Test func `with a close code the lost peer is told, and its answer awaited for a while`() throws {
        var world = try ConnectionWorld.open {
            $0.heartbeat.missLimit = 1
            $0.heartbeat.closeCode = 4000
        }
        _ = try world.beat(Self.interval)
        let lost = try world.advance(Self.interval)
        #expect(lost.contains(.sendClose(world.id, code: 4000, reason: "heartbeat lost")))
        #expect(world.machine.standing == .closing)
        let gone = try world.advance(.seconds(5))
        #expect(gone.records.first == .closed(code: 1006, reason: "", clean: false, by: .bridge))
        #expect(world.machine.standing == .waiting)
    }

    @Test(arguments: [SocketEvent.text("hello"), .ping([1]), .pong([9, 9])])
    func `whatever arrives shows life`(event: SocketEvent) throws {
        var world = try ConnectionWorld.open()
        _ = try world.beat(Self.interval)
        try world.advance(.seconds(19))
        try world.socket(event)
        let actions = try world.advance(.seconds(1))
        #expect(actions.records.isEmpty)
        #expect(actions.pings.count == 1)
    }

    @Test func `a part of a frame shows life, however long its rest takes`() throws {
        var world = try ConnectionWorld.open { $0.heartbeat.missLimit = 1 }
        for _ in 0..<10 {
            _ = try world.beat(Self.interval)
            try world.tell(.readProgressed(SocketID(1)))
        }
        #expect(world.records.last == .ready)
        let silence = try world.advance(Self.interval * 2)
        #expect(silence.records.prefix(2) == [.heartbeatMissed(misses: 1), .heartbeatLost])
    }

    @Test func `bytes of a socket that is no longer ours say nothing of the one that is`() throws {
        var world = try ConnectionWorld.open()
        try world.tell(.reconnectRequested)
        try world.socket(.plainlyOpened)
        _ = try world.beat(Self.interval)
        try world.tell(.readProgressed(SocketID(1)))
        let actions = try world.advance(Self.interval)
        #expect(actions.records == [.heartbeatMissed(misses: 1)])
    }

    @Test func `misses are consecutive`() throws {
        var world = try ConnectionWorld.open()
        for _ in 0..<5 {
            _ = try world.beat(Self.interval)
            _ = try world.beat(Self.interval)
            try world.socket(.text("life"))
        }
        let misses = world.records.filter { $0 == .heartbeatMissed(misses: 1) }.count
        #expect(misses == 5)
        #expect(world.machine.standing == .open)
    }

    @Test func `timers start when the ping was really written`() throws {
        var world = try ConnectionWorld.open()
        try world.advance(Self.interval)
        try world.advance(.seconds(15))
        try world.writeHeartbeat()
        let early = try world.advance(.milliseconds(19_999))
        let due = try world.advance(.milliseconds(1))
        #expect(early.records.isEmpty)
        #expect(due.records == [.heartbeatMissed(misses: 1)])
    }

    @Test func `a large upload in front of the ping is no miss while it moves`() throws {
        var world = try ConnectionWorld.open()
        try world.advance(Self.interval)
        for _ in 0..<10 {
            try world.tell(.writeProgressed(SocketID(1)))
            let actions = try world.advance(Self.interval)
            #expect(actions.records.isEmpty)
            #expect(actions.pings.isEmpty)
        }
        try world.writeHeartbeat()
        let actions = try world.advance(Self.interval)
        #expect(actions.records == [.heartbeatMissed(misses: 1)])
    }

    @Test func `a peer that speaks while an upload is stuck is alive`() throws {
        var world = try ConnectionWorld.open()
        try world.advance(Self.interval)
        try world.socket(.text("life"))
        let actions = try world.advance(Self.interval)
        #expect(actions.records.isEmpty)
        #expect(actions.pings.isEmpty)
    }

    @Test func `an upload that does not move is as good as silence`() throws {
        var world = try ConnectionWorld.open()
        try world.advance(Self.interval)
        let actions = try world.advance(Self.interval * 2)
        #expect(actions.pings.isEmpty)
        #expect(
            actions.records.prefix(3) == [
                .heartbeatMissed(misses: 1), .heartbeatMissed(misses: 2), .heartbeatLost,
            ]
        )
    }

    @Test func `after a suspension the peer is asked again at once instead of counted as silent`() throws {
        var world = try ConnectionWorld.open { $0.heartbeat.missLimit = 1 }
        _ = try world.beat(Self.interval)
        world.suspend(.seconds(3600))
        let actions = try world.advance(.zero)
        #expect(actions.records.filter { $0 == .heartbeatLost }.isEmpty)
        #expect(actions.pings.count == 1)
        #expect(world.machine.standing == .open)
    }

    @Test func `after a suspension an upload in front of the ping is not counted as stuck`() throws {
        var world = try ConnectionWorld.open { $0.heartbeat.missLimit = 1 }
        try world.advance(Self.interval)
        world.suspend(.seconds(3600))
        let actions = try world.advance(.zero)
        #expect(actions.records.isEmpty)
        #expect(actions.pings.isEmpty)
    }

    @Test func `a timer that is only a little late counts`() throws {
        var world = try ConnectionWorld.open()
        _ = try world.beat(Self.interval)
        world.suspend(Self.interval + .milliseconds(900))
        let actions = try world.advance(.zero)
        #expect(actions.records == [.heartbeatMissed(misses: 1)])
    }

    @Test func `a peer that stays silent after a suspension is lost all the same`() throws {
        var world = try ConnectionWorld.open { $0.heartbeat.missLimit = 1 }
        _ = try world.beat(Self.interval)
        world.suspend(.seconds(3600))
        _ = try world.beat(.zero)
        let actions = try world.advance(Self.interval)
        #expect(actions.records.prefix(2) == [.heartbeatMissed(misses: 1), .heartbeatLost])
    }

    @Test func `only pings that were written are counted as sent`() throws {
        var world = try ConnectionWorld.open()
        try world.advance(Self.interval)
        #expect(world.machine.heartbeatsSent == 0)
        try world.writeHeartbeat()
        #expect(world.machine.heartbeatsSent == 1)
    }
}
