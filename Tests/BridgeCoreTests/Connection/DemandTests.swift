import BridgeCore
import Testing
import WebSocketProtocol

/// Connections that are kept on demand, and those that a message wakes.
@Suite struct DemandTests {
    private func world(_ configure: (inout ConnectionSettings) -> Void = { _ in }) throws -> ConnectionWorld {
        var world = ConnectionWorld { settings in
            settings.connect = .onDemand
            settings.idleTimeout = .seconds(60)
            settings.heartbeat.interval = .zero
            settings.reconnect.jitter = 0
            configure(&settings)
        }
        try world.tell(.started)
        return world
    }

    private func open() throws -> ConnectionWorld {
        var world = try world()
        try world.tell(.demandChanged(isWanted: true))
        try world.socket(.plainlyOpened)
        return world
    }

    @Test func `nobody is dialled for nobody`() throws {
        let world = try world()
        #expect(world.machine.standing == .idle)
    }

    @Test(arguments: [
        ConnectionMachine.Event.demandChanged(isWanted: true), .messageOffered, .connectRequested,
    ])
    func `the first demand dials`(event: ConnectionMachine.Event) throws {
        var world = try world()
        #expect(try world.tell(event).dials == 1)
    }

    @Test func `a new beginning dials for those who were there before`() throws {
        var machine = try open().machine.successor(ConnectionSettings(), supply: .listed(count: 1))
        var settings = ConnectionSettings()
        settings.connect = .onDemand
        machine = machine.successor(settings, supply: .listed(count: 1))
        var dice = SystemRandomNumberGenerator()
        let actions = machine.handle(.started, now: Instant(nanoseconds: 0), random: &dice)
        #expect(actions.dials == 1)
    }

    @Test func `who comes after a failed attempt that nobody waited for waits as long as anybody would`()
        throws
    {
        var world = try world()
        for delay in [Duration.milliseconds(500), .seconds(1), .seconds(30)] {
            try world.tell(.demandChanged(isWanted: true))
            try world.tell(.demandChanged(isWanted: false))
            let retryAfter: Duration? = delay == .seconds(30) ? delay : nil
            let failure = DialFailure(phase: .handshake, status: 503, retryAfter: retryAfter, error: "503")
            try world.socket(.failed(failure))
            #expect(world.machine.standing == .idle)
            let early = try world.tell(.demandChanged(isWanted: true))
            #expect(early.dials == 0)
            #expect(world.machine.standing == .waiting)
            try world.tell(.demandChanged(isWanted: false))
            try world.advance(delay - .milliseconds(1))
            #expect(world.machine.standing == .waiting)
            try world.advance(.milliseconds(1))
            #expect(world.machine.standing == .idle)
        }
        try world.tell(.demandChanged(isWanted: true))
        #expect(world.machine.standing == .connecting)
    }

    @Test func `a user does not wait for the delay after an attempt that nobody waited for`() throws {
        var world = try world()
        try world.tell(.demandChanged(isWanted: true))
        try world.tell(.demandChanged(isWanted: false))
        try world.socket(.failed(DialFailure(phase: .tcp, error: "refused")))
        #expect(try world.tell(.connectRequested).dials == 1)
    }

    @Test func `it closes once nobody has needed it for the timeout`() throws {
        var world = try open()
        try world.advance(.seconds(1000))
        try world.tell(.demandChanged(isWanted: false))
        try world.advance(.milliseconds(59_999))
        #expect(world.machine.standing == .open)
        let actions = try world.advance(.milliseconds(1))
        #expect(actions.contains(.sendClose(world.id, code: 1000, reason: "")))
        try world.socket(.closeFrame(code: 1000, reason: ""))
        try world.socket(.ended(error: nil))
        #expect(world.machine.standing == .idle)
        #expect(world.records.last == .closed(code: 1000, reason: "", clean: true, by: .bridge))
        #expect(world.timers.isEmpty)
    }

    @Test func `each use begins the timeout anew`() throws {
        var world = try open()
        for _ in 0..<5 {
            try world.tell(.demandChanged(isWanted: false))
            try world.advance(.seconds(59))
            try world.tell(.demandChanged(isWanted: true))
            try world.tell(.demandChanged(isWanted: false))
            try world.advance(.seconds(59))
            #expect(world.machine.standing == .open)
            try world.tell(.connectRequested)
            try world.advance(.seconds(59))
            #expect(world.machine.standing == .open)
            try world.tell(.demandChanged(isWanted: true))
            try world.advance(.seconds(200))
        }
        #expect(world.machine.standing == .open)
        #expect(world.records.count == 3)
    }

    @Test func `what was opened for nobody closes as well`() throws {
        var world = try world()
        try world.tell(.connectRequested)
        try world.socket(.plainlyOpened)
        try world.advance(.seconds(60))
        #expect(world.machine.standing == .closing)
    }

    @Test func `demand while it closes for being idle dials again at once`() throws {
        var world = try open()
        try world.tell(.demandChanged(isWanted: false))
        try world.advance(.seconds(60))
        try world.tell(.demandChanged(isWanted: true))
        #expect(world.machine.uplink == .away)
        try world.socket(.closeFrame(code: 1000, reason: ""))
        #expect(try world.socket(.ended(error: nil)).dials == 1)
    }

    @Test func `a drop is followed by a retry only while somebody needs it`() throws {
        var wanted = try open()
        try wanted.socket(.ended(error: nil))
        #expect(wanted.machine.standing == .waiting)
        var left = try open()
        try left.tell(.demandChanged(isWanted: false))
        try left.socket(.ended(error: nil))
        #expect(left.machine.standing == .idle)
    }

    @Test func `readers that come and go do not shorten the delays`() throws {
        var world = try world()
        try world.tell(.demandChanged(isWanted: true))
        for _ in 0..<4 {
            try world.socket(.refused)
            for isWanted in [false, true, false, true] { try world.tell(.demandChanged(isWanted: isWanted)) }
            #expect(world.machine.standing == .waiting)
            try world.advance(.seconds(5))
        }
        #expect(world.records.reconnecting == [0.5, 1, 2, 4].map { .seconds($0) })
    }

    @Test func `a retry that nobody waits for is not made, and the next one waits longer`() throws {
        var world = try world()
        try world.tell(.demandChanged(isWanted: true))
        try world.socket(.refused)
        try world.tell(.demandChanged(isWanted: false))
        #expect(try world.advance(.seconds(1)).dials == 0)
        #expect(world.machine.standing == .idle)
        #expect(try world.tell(.demandChanged(isWanted: true)).dials == 1)
        try world.socket(.refused)
        #expect(world.records.reconnecting == [.milliseconds(500), .seconds(1)])
    }

    @Test(arguments: [ConnectionMachine.Event.connectRequested, .messageOffered])
    func `what was asked for is tried until it is open`(event: ConnectionMachine.Event) throws {
        var world = try world()
        try world.tell(event)
        for _ in 0..<3 {
            try world.socket(.refused)
            #expect(world.machine.standing == .waiting)
            try world.advance(.seconds(5))
        }
        try world.socket(.plainlyOpened)
        try world.socket(.ended(error: nil))
        #expect(world.machine.standing == .idle)
    }

    @Test func `a user's wish is not undone by demand`() throws {
        for wish in [ConnectionMachine.Event.pauseRequested, .disconnectRequested(code: 1000, reason: "")] {
            var world = try open()
            try world.tell(wish)
            try world.socket(.closeFrame(code: 1000, reason: ""))
            try world.socket(.ended(error: nil))
            let standing = world.machine.standing
            for isWanted in [false, true] { try world.tell(.demandChanged(isWanted: isWanted)) }
            try world.tell(.messageOffered)
            #expect(world.machine.standing == standing)
            #expect([.paused, .closed].contains(standing))
        }
    }

    @Test func `after a pause it is there for who came meanwhile`() throws {
        var world = try world()
        try world.tell(.pauseRequested)
        try world.tell(.demandChanged(isWanted: true))
        #expect(world.machine.standing == .paused)
        #expect(try world.tell(.resumeRequested).dials == 1)
        var other = try self.world()
        try other.tell(.pauseRequested)
        #expect(try other.tell(.resumeRequested).dials == 0)
        #expect(other.machine.standing == .idle)
    }

    @Test func `demand is nothing to other connections`() throws {
        for start in [ConnectionSettings.Start.always, .manual] {
            var world = ConnectionWorld { $0.connect = start }
            for isWanted in [true, false] { try world.tell(.demandChanged(isWanted: isWanted)) }
            try world.tell(.messageOffered)
            #expect(world.machine.standing == .idle)
            try world.tell(.connectRequested)
            try world.socket(.plainlyOpened)
            #expect(
                try world.advance(.seconds(10_000)).contains {
                    if case .sendClose = $0 { true } else { false }
                } == false
            )
        }
    }

    @Test func `a connection for receiving is not dialled for messages`() throws {
        var world = try world { $0.receiveOnly = true }
        #expect(try world.tell(.messageOffered).dials == 0)
        #expect(world.machine.uplink == .receiveOnly)
    }

    // MARK: Waking

    private func failed(wakes: Bool) throws -> ConnectionWorld {
        var world = ConnectionWorld { settings in
            settings.reconnect.maxRetries = 0
            settings.outbox.wakes = wakes
        }
        try world.tell(.started)
        try world.socket(.refused)
        return world
    }

    @Test func `a message wakes a connection that gave up, if it may`() throws {
        var world = try failed(wakes: true)
        #expect(world.machine.standing == .failed)
        #expect(try world.tell(.messageOffered).dials == 1)
        #expect(world.machine.uplink == .away)
        try world.socket(.refused)
        #expect(world.machine.standing == .failed)
        var other = try failed(wakes: false)
        #expect(try other.tell(.messageOffered).dials == 0)
        #expect(other.machine.uplink == .shut)
    }

    @Test func `a message does not wake what a user closed`() throws {
        var world = try failed(wakes: true)
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        #expect(try world.tell(.messageOffered).dials == 0)
        #expect(world.machine.uplink == .shut)
    }
}
