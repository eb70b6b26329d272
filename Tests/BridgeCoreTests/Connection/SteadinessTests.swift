import BridgeCore
import Testing

/// When the retry counter and the delay start over.
@Suite struct SteadinessTests {
    /// Opens, stays for `stay`, loses the socket; the delay before the next dial.
    private func lose(_ world: inout ConnectionWorld, after stay: Duration) throws -> Duration? {
        try world.socket(.plainlyOpened)
        try world.advance(stay)
        let delay = try world.socket(.ended(error: nil)).records.reconnecting.first
        try world.advance(delay ?? .zero)
        return delay
    }

    private func world() throws -> ConnectionWorld {
        var world = ConnectionWorld {
            $0.reconnect.jitter = 0
            $0.heartbeat.interval = .zero
        }
        try world.tell(.started)
        return world
    }

    @Test func `a server that accepts and closes at once meets growing delays`() throws {
        var world = try world()
        let delays = try (0..<4).map { _ in try lose(&world, after: .milliseconds(9999)) }
        #expect(delays == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)])
    }

    @Test func `the counter resets only after a while of being ready`() throws {
        var world = try world()
        try refuse(&world)
        try refuse(&world)
        // Counted from ready: the time that the attempts and the delays took does not matter.
        #expect(try lose(&world, after: .milliseconds(9999)) == .seconds(2))
        #expect(try lose(&world, after: .milliseconds(9999)) == .seconds(4))
        #expect(try lose(&world, after: .seconds(10)) == .milliseconds(500))
    }

    @Test func `a connection that was ready for resetAfter starts over`() throws {
        var world = try world()
        let delays = try (0..<3).map { _ in try lose(&world, after: .seconds(10)) }
        #expect(delays == [.milliseconds(500), .milliseconds(500), .milliseconds(500)])
    }

    @Test func `a server that accepts and closes at once is given up on`() throws {
        var world = ConnectionWorld { $0.reconnect.maxRetries = 2 }
        try world.tell(.started)
        for _ in 0..<3 { _ = try lose(&world, after: .zero) }
        #expect(world.machine.standing == .failed)
        #expect(world.records.last == .gaveUp(attempts: 2))
    }

    @Test func `the status counts no retries while the connection is ready`() throws {
        var world = try world()
        try world.socket(.refused)
        #expect(world.machine.attempt == 1)
        try world.advance(.seconds(1))
        try world.socket(.plainlyOpened)
        #expect(world.machine.attempt == 0)
    }

    @Test func `the status counts retries since ready, the record of a retry those since steady`() throws {
        var world = try world()
        for _ in 0..<3 { try refuse(&world) }
        #expect(world.machine.attempt == 3)
        try world.socket(.plainlyOpened)
        try world.socket(.closeFrame(code: 1000, reason: ""))
        #expect(world.machine.standing == .closing)
        #expect(world.machine.attempt == 0)
        try world.socket(.ended(error: nil))
        #expect(world.machine.attempt == 1)
        #expect(world.records.last == .reconnecting(attempt: 4, delay: .seconds(4)))
    }

    @Test func `the status counts no retries once a ready connection was closed`() throws {
        var world = try world()
        for _ in 0..<3 { try refuse(&world) }
        try world.socket(.plainlyOpened)
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        try world.socket(.ended(error: nil))
        #expect(world.machine.standing == .closed)
        #expect(world.machine.attempt == 0)
    }

    @Test func `a user's connect counts both from the beginning`() throws {
        var world = ConnectionWorld {
            $0.reconnect.jitter = 0
            $0.reconnect.maxRetries = 2
        }
        try world.tell(.started)
        for _ in 0..<3 { try refuse(&world) }
        #expect(world.machine.standing == .failed)
        #expect(world.machine.attempt == 2)
        try world.tell(.connectRequested)
        #expect(world.machine.attempt == 0)
        let actions = try world.socket(.refused)
        #expect(actions.records.last == .reconnecting(attempt: 1, delay: .milliseconds(500)))
        #expect(world.machine.attempt == 1)
    }

    private func refuse(_ world: inout ConnectionWorld) throws {
        try world.socket(.refused)
        try world.advance(.seconds(5))
    }
}
