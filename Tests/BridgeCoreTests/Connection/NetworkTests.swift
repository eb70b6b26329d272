import BridgeCore
import Testing
import WebSocketProtocol

/// A connection whose way to the upstream comes and goes.
@Suite struct NetworkTests {
    typealias Standing = ConnectionMachine.Standing

    /// A connection that waits for the network.
    private func offline(_ configure: (inout ConnectionSettings) -> Void = { _ in }) throws -> ConnectionWorld
    {
        var world = ConnectionWorld(configure)
        try world.tell(.networkLost)
        try world.tell(.started)
        #expect(world.machine.standing == .offline)
        return world
    }

    private let lost = Lifecycle.closed(code: 1006, reason: "", clean: false, by: .bridge)
    private let noNetwork = "there is no network to the upstream"

    // MARK: Nothing is dialled without a network

    @Test func `without a network the start dials nothing, whatever time passes`() throws {
        var world = try offline()
        #expect(world.records == [.networkLost])
        let actions = try world.advance(.seconds(100_000))
        #expect(actions.isEmpty)
        #expect(world.machine.attempt == 0)
        #expect(world.machine.uplink == .away)
    }

    @Test func `when the network is back the dial comes at once`() throws {
        var world = try offline()
        let actions = try world.tell(.networkRestored)
        #expect(actions.records == [.networkRestored, .connecting])
        #expect(actions.dials == 1)
    }

    @Test func `a retry that waits is put off until the network is back, and then comes at once`() throws {
        var world = ConnectionWorld()
        try world.tell(.started)
        try world.socket(.refused)
        let actions = try world.tell(.networkLost)
        #expect(actions == [.record(.networkLost), .cancelTimer(.init(2))])
        #expect(world.machine.standing == .offline)
        #expect(world.machine.nextAttemptAt == nil)
        #expect(try world.advance(.seconds(1000)).isEmpty)
        #expect(try world.tell(.networkRestored).dials == 1)
    }

    @Test func `an attempt whose network is lost ends at once and does not count`() throws {
        var world = ConnectionWorld { $0.reconnect.maxRetries = 0 }
        try world.tell(.started)
        try world.tell(.dialReached(SocketID(1), .tcp))
        let actions = try world.tell(.networkLost)
        #expect(actions.drops == 1)
        #expect(
            actions.records == [.networkLost, .failed(DialFailure(phase: .tcp, error: noNetwork))]
        )
        #expect(world.machine.standing == .offline)
        #expect(world.machine.attempt == 0)
    }

    @Test func `the delays go on from where they were when the network went`() throws {
        var world = ConnectionWorld { $0.reconnect.jitter = 0 }
        try world.tell(.started)
        for _ in 0..<3 {
            try world.socket(.refused)
            try world.tell(.networkLost)
            try world.tell(.networkRestored)
        }
        try world.socket(.refused)
        let expected: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)]
        #expect(world.records.reconnecting == expected)
    }

    @Test func `a Retry-After holds when the network comes back sooner`() throws {
        var world = ConnectionWorld { $0.reconnect.jitter = 0 }
        try world.tell(.started)
        try world.socket(.answered(503, retryAfter: .seconds(90)))
        try world.advance(.seconds(30))
        try world.tell(.networkLost)
        let actions = try world.tell(.networkRestored)
        #expect(actions.timers == [.seconds(60)])
        #expect(world.machine.standing == .waiting)
        #expect(try world.advance(.seconds(60)).dials == 1)
    }

    @Test func `a Retry-After is over when the network comes back later`() throws {
        var world = ConnectionWorld()
        try world.tell(.started)
        try world.socket(.answered(503, retryAfter: .seconds(90)))
        try world.tell(.networkLost)
        try world.advance(.seconds(91))
        #expect(try world.tell(.networkRestored).dials == 1)
    }

    // MARK: A manual connect

    @Test(arguments: [ConnectionMachine.Event.connectRequested, .reconnectRequested])
    func `a missing network only delays dialling, never blocks a manual connect`(
        request: ConnectionMachine.Event
    ) throws {
        var world = try offline()
        let actions = try world.tell(request)
        #expect(actions.records == [.connecting])
        #expect(actions.dials == 1)
        // It is tried to its end, though the news is repeated.
        #expect(try world.tell(.networkLost).isEmpty)
        #expect(world.machine.standing == .connecting)
    }

    @Test(arguments: [true, false])
    func `a manual connect that fails without a network is tried once`(isRefused: Bool) throws {
        var world = try offline { $0.reconnect.maxRetries = 0 }
        try world.tell(.connectRequested)
        if isRefused { try world.socket(.refused) } else { try world.advance(.seconds(10)) }
        #expect(world.machine.standing == .offline)
        #expect(world.machine.attempt == 0)
        #expect(try world.advance(.seconds(1000)).isEmpty)
        #expect(try world.tell(.networkRestored).dials == 1)
    }

    @Test func `a manual connect that succeeds without a network stays`() throws {
        var world = try offline()
        try world.tell(.connectRequested)
        try world.socket(.plainlyOpened)
        #expect(world.machine.isReady)
        #expect(try world.tell(.networkLost).isEmpty)
        #expect(try world.tell(.networkRestored).records == [.networkRestored])
        #expect(world.machine.isReady)
    }

    @Test(arguments: [Standing.idle, .closed, .failed, .paused])
    func `a manual connect dials from every state that is down`(standing: Standing) throws {
        var world = ConnectionWorld {
            $0.connect = standing == .idle ? .manual : .always
            $0.reconnect.maxRetries = 0
        }
        try world.tell(.started)
        switch standing {
        case .closed: try world.tell(.disconnectRequested(code: 1000, reason: ""))
        case .failed: try world.socket(.refused)
        case .paused: try world.tell(.pauseRequested)
        case .idle, .connecting, .open, .closing, .waiting, .offline: break
        }
        #expect(world.machine.standing == standing)
        try world.tell(.networkLost)
        #expect(world.machine.standing == standing)
        #expect(try world.tell(.connectRequested).dials == 1)
    }

    // MARK: An open connection

    @Test func `an open connection whose route is gone is dropped without waiting for the heartbeat`() throws
    {
        var world = try ConnectionWorld.open { $0.heartbeat.interval = .seconds(3600) }
        let actions = try world.tell(.networkLost)
        #expect(actions.records == [.networkLost, lost])
        #expect(actions.drops == 1)
        #expect(actions.contains(.returnInFlight(closeCode: nil)))
        #expect(world.machine.standing == .offline)
    }

    @Test func `a connection that has lost its path and finds another is dialled at once`() throws {
        var world = try ConnectionWorld.open()
        try world.tell(.networkLost)
        let actions = try world.tell(.networkRestored)
        #expect(actions.records == [.networkRestored, .connecting])
    }

    @Test func `a close code to stop on counts for a lost network as well`() throws {
        var world = try ConnectionWorld.open { $0.reconnect.stopOnCloseCodes = [1006...1006] }
        try world.tell(.networkLost)
        #expect(world.machine.standing == .closed)
    }

    @Test func `without reconnect a lost network leaves the connection closed`() throws {
        var world = try ConnectionWorld.open { $0.reconnect.enabled = false }
        try world.tell(.networkLost)
        #expect(world.machine.standing == .closed)
        #expect(try world.tell(.networkRestored).dials == 0)
    }

    @Test(
        arguments: [
            (.disconnectRequested(code: 1000, reason: ""), .closed), (.pauseRequested, .paused),
            (.stopRequested, .closed),
        ] as [(ConnectionMachine.Event, Standing)]
    )
    func `a close handshake does not wait for a peer that is out of reach`(
        request: ConnectionMachine.Event,
        standing: Standing
    ) throws {
        var world = try ConnectionWorld.open()
        try world.tell(request)
        #expect(world.machine.standing == .closing)
        let actions = try world.tell(.networkLost)
        #expect(actions.drops == 1)
        #expect(world.machine.standing == standing)
    }

    // MARK: Requests while offline

    @Test func `a pause while offline lasts after the network is back`() throws {
        var world = try offline()
        #expect(try world.tell(.pauseRequested).records == [.paused])
        #expect(try world.tell(.networkRestored).records == [.networkRestored])
        #expect(world.machine.standing == .paused)
        #expect(try world.tell(.resumeRequested).dials == 1)
    }

    @Test func `resume without a network waits for it`() throws {
        var world = try offline()
        try world.tell(.pauseRequested)
        #expect(try world.tell(.resumeRequested).records == [.resumed])
        #expect(world.machine.standing == .offline)
        #expect(try world.tell(.networkRestored).dials == 1)
    }

    @Test func `disconnect while offline is for good`() throws {
        var world = try offline()
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        #expect(world.machine.standing == .closed)
        #expect(try world.tell(.networkRestored).dials == 0)
    }

    @Test func `stop while offline is the end`() throws {
        var world = try offline()
        #expect(try world.tell(.stopRequested) == [.finished])
        for event in [ConnectionMachine.Event.networkRestored, .networkLost] {
            #expect(try world.tell(event).isEmpty)
        }
    }

    // MARK: On demand

    @Test(arguments: [ConnectionMachine.Event.demandChanged(isWanted: true), .messageOffered])
    func `who needs a connection waits for the network with it`(event: ConnectionMachine.Event) throws {
        var world = ConnectionWorld { $0.connect = .onDemand }
        try world.tell(.started)
        try world.tell(.networkLost)
        #expect(try world.tell(event).isEmpty)
        #expect(world.machine.standing == .offline)
        #expect(try world.tell(.networkRestored).dials == 1)
    }

    @Test func `who needs a connection that was paused before waits for the network too`() throws {
        var world = ConnectionWorld { $0.connect = .onDemand }
        try world.tell(.pauseRequested)
        try world.tell(.demandChanged(isWanted: true))
        try world.tell(.networkLost)
        #expect(try world.tell(.resumeRequested).records == [.resumed])
        #expect(world.machine.standing == .offline)
    }

    @Test func `what nobody needs any more is not dialled when the network is back`() throws {
        var world = ConnectionWorld { $0.connect = .onDemand }
        try world.tell(.networkLost)
        try world.tell(.demandChanged(isWanted: true))
        try world.tell(.demandChanged(isWanted: false))
        #expect(try world.tell(.networkRestored).dials == 0)
        #expect(world.machine.standing == .idle)
    }

    @Test func `a message that wakes a connection waits for the network with it`() throws {
        var world = ConnectionWorld {
            $0.outbox.wakes = true
            $0.reconnect.maxRetries = 0
        }
        try world.tell(.started)
        try world.socket(.refused)
        try world.tell(.networkLost)
        #expect(world.machine.standing == .failed)
        #expect(try world.tell(.messageOffered).isEmpty)
        #expect(world.machine.standing == .offline)
        #expect(try world.tell(.networkRestored).dials == 1)
    }

    // MARK: What is known

    @Test func `news that is no news changes nothing`() throws {
        var world = try ConnectionWorld.open()
        #expect(try world.tell(.networkRestored).isEmpty)
        try world.tell(.networkLost)
        #expect(try world.tell(.networkLost).isEmpty)
    }

    @Test func `the network of a connection that is down is on record too`() throws {
        var world = ConnectionWorld { $0.connect = .manual }
        try world.tell(.started)
        try world.tell(.networkLost)
        #expect(world.machine.network == .unreachable)
        try world.tell(.networkRestored)
        #expect(world.machine.network == .reachable)
        #expect(world.records == [.networkLost, .networkRestored])
    }

    @Test func `a connection that ignores the network is told nothing`() throws {
        var world = try ConnectionWorld.open { $0.network = .ignore }
        #expect(try world.tell(.networkLost).isEmpty)
        #expect(world.machine.isReady)
        #expect(world.machine.network == .ignored)
    }

    @Test func `other settings begin with what is known of the network, if they want to know`() throws {
        let world = try offline()
        var settings = ConnectionSettings()
        #expect(world.machine.successor(settings, supply: .listed(count: 1)).network == .unreachable)
        settings.network = .ignore
        let ignorant = world.machine.successor(settings, supply: .listed(count: 1))
        #expect(ignorant.network == .ignored)
        settings.network = .auto
        #expect(ignorant.successor(settings, supply: .listed(count: 1)).network == .reachable)
    }
}
