import BridgeCore
import Testing

/// Which URL is dialled, and when the question for it is asked.
@Suite struct `URLs have their turn` {
    private func listed(
        _ count: Int,
        _ configure: (inout ConnectionSettings) -> Void = { _ in }
    ) throws -> ConnectionWorld {
        var world = ConnectionWorld(supply: .listed(count: count)) { settings in
            settings.heartbeat.interval = .zero
            configure(&settings)
        }
        try world.tell(.started)
        return world
    }

    private func asked() throws -> ConnectionWorld {
        var world = ConnectionWorld(supply: .asked(timeout: .seconds(3))) {
            $0.heartbeat.interval = .zero
            $0.reconnect.jitter = 0
        }
        try world.tell(.started)
        return world
    }

    // MARK: A list

    @Test
    func `a failed attempt hands over to the next one, after the usual delay, and the last one to the first`()
        throws
    {
        var world = try listed(3) { $0.reconnect.jitter = 0 }
        var dialled: [Int] = []
        for delay in [500, 1000, 2000, 4000, 8000] {
            dialled.append(world.machine.urlIndex)
            #expect(try world.socket(.refused).timers == [.milliseconds(delay)])
            #expect(try world.advance(.milliseconds(delay)).dials == 1)
        }
        #expect(dialled == [0, 1, 2, 0, 1])
    }

    @Test func `an attempt that runs out of time hands over as well`() throws {
        var world = try listed(2)
        #expect(try world.advance(.seconds(10)).drops == 1)
        #expect(world.machine.urlIndex == 1)
    }

    @Test func `one that lasted is dialled first after its loss`() throws {
        var world = try listed(3)
        try world.socket(.refused)
        try world.advance(.seconds(1))
        try world.socket(.plainlyOpened)
        try world.advance(.seconds(10))
        try world.socket(.ended(error: nil))
        #expect(world.machine.urlIndex == 1)
    }

    @Test func `one that accepts and closes at once hands over to the next`() throws {
        var world = try listed(3)
        try world.socket(.plainlyOpened)
        try world.socket(.closeFrame(code: 1000, reason: ""))
        try world.socket(.ended(error: nil))
        #expect(world.machine.urlIndex == 1)
    }

    @Test func `having lasted once does not count for the next socket`() throws {
        var world = try listed(2)
        try world.socket(.plainlyOpened)
        try world.advance(.seconds(10))
        try world.socket(.ended(error: nil))
        try world.advance(.milliseconds(500))
        #expect(world.machine.urlIndex == 0)
        try world.socket(.plainlyOpened)
        try world.socket(.ended(error: nil))
        #expect(world.machine.urlIndex == 1)
    }

    @Test func `the loss of the network is not the URL's fault`() throws {
        var world = try listed(2)
        try world.tell(.networkLost)
        try world.tell(.networkRestored)
        #expect(world.machine.standing == .connecting)
        #expect(world.machine.urlIndex == 0)
        try world.socket(.plainlyOpened)
        try world.tell(.networkLost)
        try world.tell(.networkRestored)
        #expect(world.machine.standing == .connecting)
        #expect(world.machine.urlIndex == 0)
    }

    @Test(arguments: [
        [ConnectionMachine.Event.reconnectRequested], [.pauseRequested, .resumeRequested],
        [.disconnectRequested(code: 1000, reason: ""), .connectRequested],
    ])
    func `a user's wish does not change whose turn it is`(wishes: [ConnectionMachine.Event]) throws {
        var world = try listed(3)
        try world.socket(.refused)
        try world.advance(.milliseconds(500))
        #expect(world.machine.standing == .connecting)
        for wish in wishes { try world.tell(wish) }
        #expect(world.machine.standing == .connecting)
        #expect(world.machine.urlIndex == 1)
    }

    @Test func `other settings begin with the first one`() throws {
        var world = try listed(3)
        try world.socket(.refused)
        let successor = world.machine.successor(ConnectionSettings(), supply: .listed(count: 2))
        #expect(successor.urlIndex == 0)
    }

    // MARK: A provider

    @Test func `a provider is asked before each dial, in a time of its own`() throws {
        var world = ConnectionWorld(supply: .asked(timeout: .seconds(3)))
        #expect(
            try world.tell(.started) == [
                .record(.connecting), .startTimer(.init(1), after: .seconds(3)), .askForURL(SocketID(1)),
            ]
        )
        #expect(
            try world.tell(.urlFound(SocketID(1))) == [
                .cancelTimer(.init(1)), .startTimer(.init(2), after: .seconds(10)), .dial(SocketID(1)),
            ]
        )
        try world.socket(.refused)
        let again = try world.advance(.seconds(1))
        #expect(again.contains(.askForURL(SocketID(2))))
        #expect(again.dials == 0)
    }

    @Test func `a provider that takes its time does not shorten that to connect`() throws {
        var world = try asked()
        try world.advance(.milliseconds(2999))
        try world.tell(.urlFound(SocketID(1)))
        #expect(try world.advance(.milliseconds(9999)).drops == 0)
        let late = try world.advance(.milliseconds(1))
        #expect(
            late.records.first == .failed(DialFailure(phase: .dns, error: "not connected within 10000 ms"))
        )
    }

    @Test func `a provider that does not answer is a failure of the phase url`() throws {
        var world = try asked()
        let actions = try world.advance(.seconds(3))
        #expect(actions.first == .drop(SocketID(1)))
        let failure = DialFailure(phase: .url, error: "no URL to dial within 3000 ms")
        #expect(actions.records.first == .failed(failure))
        #expect(world.machine.standing == .waiting)
    }

    @Test func `a provider without an answer is retried after the usual delays`() throws {
        var world = try asked()
        for delay in [500, 1000, 2000] {
            let failure = DialFailure(phase: .url, error: "nobody knows")
            #expect(try world.socket(.failed(failure)).timers == [.milliseconds(delay)])
            #expect(try world.advance(.milliseconds(delay)).dials == 0)
        }
    }

    @Test func `an answer that comes too late is nobody's`() throws {
        var world = try asked()
        try world.advance(.seconds(3))
        #expect(try world.tell(.urlFound(SocketID(1))).isEmpty)
        try world.advance(.milliseconds(500))
        #expect(try world.tell(.urlFound(SocketID(1))).isEmpty)
        #expect(try world.tell(.urlFound(SocketID(2))).dials == 1)
        #expect(try world.tell(.urlFound(SocketID(2))).isEmpty)
    }

    @Test func `a question whose network is lost is given up, and asked anew when it is back`() throws {
        var world = try asked()
        let actions = try world.tell(.networkLost)
        #expect(actions.drops == 1)
        #expect(world.machine.standing == .offline)
        #expect(try world.tell(.urlFound(SocketID(1))).isEmpty)
        #expect(try world.tell(.networkRestored).contains(.askForURL(SocketID(2))))
    }

    @Test(arguments: [
        (
            ConnectionMachine.Event.disconnectRequested(code: 1000, reason: ""),
            ConnectionMachine.Standing.closed
        ),
        (.pauseRequested, .paused), (.stopRequested, .closed), (.reconnectRequested, .connecting),
    ])
    func `a question is given up when the connection is`(
        wish: ConnectionMachine.Event,
        standing: ConnectionMachine.Standing
    ) throws {
        var world = try asked()
        #expect(try world.tell(wish).drops == 1)
        #expect(world.machine.standing == standing)
    }
}
