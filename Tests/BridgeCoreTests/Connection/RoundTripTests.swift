import BridgeCore
import Testing

/// Which pong answers which of our pings.
@Suite struct RoundTripTests {
    static let interval = Duration.seconds(20)

    @Test func `a pong with the payload gives the round trip from when the ping was written`() throws {
        var world = try ConnectionWorld.open()
        let payload = try #require(try world.advance(Self.interval).pings.first)
        try world.advance(.seconds(3))
        try world.writeHeartbeat()
        try world.advance(.milliseconds(40))
        try world.socket(.pong(payload))
        #expect(world.machine.pulse?.roundTrip == .milliseconds(40))
        #expect(world.machine.pulse?.lastAnswer == world.now)
    }

    @Test(arguments: [[], [1], Array(repeating: 0, count: 8)] as [[UInt8]])
    func `a pong for no ping of ours gives no round trip`(payload: [UInt8]) throws {
        var world = try ConnectionWorld.open()
        _ = try world.beat(Self.interval)
        try world.socket(.pong(payload))
        #expect(world.machine.pulse?.roundTrip == nil)
        #expect(world.machine.pulse?.lastAnswer == nil)
    }

    @Test func `a pong for an older ping counts from that one`() throws {
        var world = try ConnectionWorld.open { $0.heartbeat.missLimit = 3 }
        let first = try world.beat(Self.interval)
        _ = try world.beat(Self.interval)
        try world.socket(.pong(first))
        #expect(world.machine.pulse?.roundTrip == Self.interval)
    }

    @Test func `a pong answers the older pings too`() throws {
        var world = try ConnectionWorld.open { $0.heartbeat.missLimit = 3 }
        let first = try world.beat(Self.interval)
        let second = try world.beat(Self.interval)
        try world.socket(.pong(second))
        try world.advance(.seconds(1))
        try world.socket(.pong(first))
        #expect(world.machine.pulse?.roundTrip == .zero)
    }

    @Test func `a peer that answers nothing for long is not remembered ping by ping`() throws {
        var world = try ConnectionWorld.open { $0.heartbeat.missLimit = 100 }
        let pings = try (0..<20).map { _ in try world.beat(Self.interval) }
        for (index, ping) in pings.enumerated() {
            try world.socket(.pong(ping))
            let isRemembered = world.machine.pulse?.roundTrip != nil
            #expect(isRemembered == (index >= 12))
        }
    }
}
