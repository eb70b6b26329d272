import BridgeCore
import Testing

@Suite struct DiallingTests {
    @Test func `with connect always the start dials under one deadline`() throws {
        var world = ConnectionWorld()
        let actions = try world.tell(.started)
        let expected: [ConnectionMachine.Action] = [
            .record(.connecting), .startTimer(.init(1), after: .seconds(10)), .dial(SocketID(1)),
        ]
        #expect(actions == expected)
    }

    @Test func `with connect manual the start does nothing`() throws {
        var world = ConnectionWorld { $0.connect = .manual }
        let actions = try world.tell(.started)
        #expect(actions.isEmpty)
        #expect(world.machine.standing == .idle)
    }

    @Test func `an open socket is recorded as open, then ready, and the outbox flows`() throws {
        var world = ConnectionWorld { $0.heartbeat.interval = .zero }
        try world.tell(.started)
        let actions = try world.socket(.opened(subprotocol: "v2", compression: true))
        let expected: [ConnectionMachine.Action] = [
            .cancelTimer(.init(1)), .record(.open(subprotocol: "v2", reconnected: false)), .record(.ready),
            .startTimer(.init(2), after: .seconds(10)), .ready,
        ]
        #expect(actions == expected)
    }

    @Test func `the second open says that it is a reconnect`() throws {
        var world = try ConnectionWorld.open()
        try world.socket(.ended(error: nil))
        try world.advance(.seconds(1))
        let actions = try world.socket(.plainlyOpened)
        #expect(actions.records.contains(.open(subprotocol: nil, reconnected: true)))
    }

    @Test(arguments: [DialPhase.dns, .tcp, .proxy, .tls, .handshake])
    func `an attempt that runs out of time is dropped and fails in the phase it reached`(phase: DialPhase)
        throws
    {
        var world = ConnectionWorld { $0.reconnect.jitter = 0 }
        try world.tell(.started)
        try world.tell(.dialReached(SocketID(1), phase))
        let actions = try world.advance(.seconds(10))
        let expected: [ConnectionMachine.Action] = [
            .drop(SocketID(1)),
            .record(.failed(DialFailure(phase: phase, error: "not connected within 10000 ms"))),
            .record(.reconnecting(attempt: 1, delay: .milliseconds(500))),
            .startTimer(.init(2), after: .milliseconds(500)),
        ]
        #expect(actions == expected)
    }

    @Test func `an attempt that runs out of time tells what became of the addresses`() throws {
        var world = ConnectionWorld()
        try world.tell(.started)
        try world.tell(.dialReached(SocketID(1), .tcp, account: "a: refused; b: no answer"))
        let actions = try world.advance(.seconds(10))
        let error = "not connected within 10000 ms; a: refused; b: no answer"
        #expect(actions.records.contains(.failed(DialFailure(phase: .tcp, error: error))))
    }

    @Test func `phases do not move the deadline`() throws {
        var world = ConnectionWorld()
        try world.tell(.started)
        try world.advance(.seconds(6))
        try world.tell(.dialReached(SocketID(1), .tls))
        let actions = try world.advance(.seconds(4))
        #expect(actions.drops == 1)
    }

    @Test func `a stream that ends before it is open is a failed attempt`() throws {
        var world = ConnectionWorld()
        try world.tell(.started)
        try world.tell(.dialReached(SocketID(1), .handshake))
        let actions = try world.socket(.ended(error: "reset by peer"))
        #expect(actions.records.first == .failed(DialFailure(phase: .handshake, error: "reset by peer")))
        #expect(world.machine.standing == .waiting)
    }

    @Test func `each retry waits longer than the one before`() throws {
        var world = ConnectionWorld { $0.reconnect.jitter = 0 }
        try world.tell(.started)
        for _ in 0..<5 {
            try world.socket(.refused)
            try world.advance(.seconds(60))
        }
        let expected: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(8)]
        #expect(Array(world.records.reconnecting.prefix(5)) == expected)
    }

    @Test(arguments: [0, 1, 3])
    func `maxRetries N makes N + 1 dials, then gives up`(limit: Int) throws {
        var world = ConnectionWorld { $0.reconnect.maxRetries = limit }
        var dials = try world.tell(.started).dials
        for _ in 0...limit {
            try world.socket(.refused)
            dials += try world.advance(.seconds(5)).dials
        }
        #expect(dials == limit + 1)
        #expect(world.records.last == .gaveUp(attempts: limit))
        #expect(world.machine.standing == .failed)
    }

    @Test func `without reconnect a failed attempt leaves the connection closed`() throws {
        var world = ConnectionWorld { $0.reconnect.enabled = false }
        try world.tell(.started)
        let actions = try world.socket(.refused)
        let expected: [Lifecycle] = [.failed(DialFailure(phase: .tcp, error: "connection refused"))]
        #expect(actions.records == expected)
        #expect(world.machine.standing == .closed)
    }

    @Test func `a status to stop on is the end of all attempts`() throws {
        var world = ConnectionWorld { $0.reconnect.stopOnStatus = [401, 403] }
        try world.tell(.started)
        try world.socket(.answered(403))
        #expect(world.machine.standing == .failed)
        #expect(world.records.last == .gaveUp(attempts: 0))
    }

    @Test func `another status is retried`() throws {
        var world = ConnectionWorld { $0.reconnect.stopOnStatus = [401, 403] }
        try world.tell(.started)
        try world.socket(.answered(500))
        #expect(world.machine.standing == .waiting)
    }

    @Test func `Retry-After is a lower bound of the delay`() throws {
        var world = ConnectionWorld()
        try world.tell(.started)
        let actions = try world.socket(.answered(503, retryAfter: .seconds(90)))
        #expect(actions.timers == [.seconds(90)])
        let due = world.now + .seconds(90)
        #expect(world.machine.nextAttemptAt == due)
    }

    @Test(arguments: [
        (Duration.seconds(86_399), Duration.seconds(86_399)), (.seconds(86_400), .seconds(86_400)),
        (.seconds(86_401), .seconds(86_400)), (.seconds(Int64.max), .seconds(86_400)),
    ])
    func `a Retry-After of more than a day is one of a day`(asked: Duration, delay: Duration) throws {
        var world = ConnectionWorld()
        try world.tell(.started)
        let actions = try world.socket(.answered(503, retryAfter: asked))
        #expect(actions.timers == [delay])
    }

    @Test func `late words of an abandoned socket change nothing`() throws {
        var world = ConnectionWorld()
        try world.tell(.started)
        try world.advance(.seconds(12))
        #expect(world.machine.standing == .connecting)
        for event in [SocketEvent.plainlyOpened, .refused, .text("late"), .ended(error: nil)] {
            let actions = try world.tell(.socket(SocketID(1), event))
            #expect(actions.isEmpty)
        }
        #expect(world.machine.standing == .connecting)
    }

    @Test func `a late timer of an earlier attempt changes nothing`() throws {
        var world = ConnectionWorld()
        try world.tell(.started)
        try world.socket(.plainlyOpened)
        let actions = try world.tell(.timerFired(.init(1)))
        #expect(actions.isEmpty)
        #expect(world.machine.standing == .open)
    }
}
