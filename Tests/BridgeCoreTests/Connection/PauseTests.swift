import BridgeCore
import Testing

/// Pausing and resuming, in every state.
@Suite struct PauseTests {
    typealias Standing = ConnectionMachine.Standing

    private func open(_ configure: (inout ConnectionSettings) -> Void = { _ in }) throws -> ConnectionWorld {
        try ConnectionWorld.open(configure)
    }

    private func paused() throws -> ConnectionWorld {
        var world = try open()
        try world.tell(.pauseRequested)
        try world.socket(.closeFrame(code: 1000, reason: ""))
        try world.socket(.ended(error: nil))
        #expect(world.machine.standing == .paused)
        return world
    }

    @Test func `a pause closes the connection in order, and only then it is paused`() throws {
        var world = try open()
        let actions = try world.tell(.pauseRequested)
        #expect(actions.first == .sendClose(world.id, code: 1000, reason: ""))
        #expect(world.machine.standing == .closing)
        #expect(world.machine.uplink == .away)
        try world.socket(.closeFrame(code: 1000, reason: ""))
        let end = try world.socket(.ended(error: nil))
        #expect(end.records == [.closed(code: 1000, reason: "", clean: true, by: .bridge), .paused])
        #expect(world.machine.standing == .paused)
    }

    @Test func `a pause that the peer ignores begins in time`() throws {
        var world = try open()
        try world.tell(.pauseRequested)
        let actions = try world.advance(.seconds(5))
        #expect(actions.drops == 1)
        #expect(actions.records == [.closed(code: 1006, reason: "", clean: false, by: .bridge), .paused])
    }

    @Test func `while paused nothing is dialled and messages may wait`() throws {
        var world = try paused()
        let actions = try world.advance(.seconds(100_000))
        #expect(actions.isEmpty)
        #expect(world.machine.uplink == .away)
        #expect(!world.machine.isReady)
    }

    @Test func `resume dials at once, with all retries at hand`() throws {
        var world = try paused()
        let actions = try world.tell(.resumeRequested)
        #expect(actions.records == [.resumed, .connecting])
        #expect(actions.dials == 1)
    }

    @Test func `a pause while connecting fails the attempt`() throws {
        var world = ConnectionWorld()
        try world.tell(.started)
        let actions = try world.tell(.pauseRequested)
        #expect(actions.drops == 1)
        #expect(actions.records == [.failed(DialFailure(phase: .dns, error: "paused by the user")), .paused])
        #expect(world.machine.standing == .paused)
    }

    @Test func `a pause ends the wait for a retry, and resume starts counting anew`() throws {
        var world = ConnectionWorld()
        try world.tell(.started)
        for _ in 0..<3 {
            try world.socket(.refused)
            try world.advance(.seconds(60))
        }
        try world.socket(.refused)
        try world.tell(.pauseRequested)
        #expect(world.machine.standing == .paused)
        #expect(world.timers.isEmpty)
        try world.tell(.resumeRequested)
        try world.socket(.refused)
        #expect(world.machine.attempt == 1)
    }

    @Test func `a connection that was never asked to connect is not dialled by resume either`() throws {
        var world = ConnectionWorld { $0.connect = .manual }
        try world.tell(.started)
        let pause1 = try world.tell(.pauseRequested)
        #expect(pause1.records == [.paused])
        let resume2 = try world.tell(.resumeRequested)
        #expect(resume2.records == [.resumed])
        #expect(world.machine.standing == .idle)
    }

    @Test func `a pause from before the start is over with resume`() throws {
        var world = ConnectionWorld()
        try world.tell(.pauseRequested)
        #expect(try world.tell(.started).isEmpty)
        #expect(try world.tell(.resumeRequested).dials == 1)
    }

    @Test func `both are idempotent`() throws {
        var world = try open()
        let resume3 = try world.tell(.resumeRequested)
        #expect(resume3.isEmpty)
        try world.tell(.pauseRequested)
        let pause4 = try world.tell(.pauseRequested)
        #expect(pause4.isEmpty)
        try world.socket(.ended(error: nil))
        let pause5 = try world.tell(.pauseRequested)
        #expect(pause5.isEmpty)
        try world.tell(.resumeRequested)
        let resume6 = try world.tell(.resumeRequested)
        #expect(resume6.isEmpty)
    }

    @Test func `a pause while the peer closes holds as soon as its socket is gone`() throws {
        var world = try open()
        try world.socket(.closeFrame(code: 1012, reason: "restart"))
        try world.tell(.pauseRequested)
        let actions = try world.socket(.ended(error: nil))
        #expect(
            actions.records == [.closed(code: 1012, reason: "restart", clean: true, by: .server), .paused]
        )
    }

    @Test func `the upstream's final word outlasts a pause, the bridge's own code does not`() throws {
        var world = try open { $0.reconnect.stopOnCloseCodes = [1000...1000] }
        try world.socket(.closeFrame(code: 1000, reason: ""))
        try world.tell(.pauseRequested)
        try world.socket(.ended(error: nil))
        #expect(world.machine.standing == .closed)
        var other = try open { $0.reconnect.stopOnCloseCodes = [1000...1000] }
        try other.tell(.pauseRequested)
        try other.socket(.closeFrame(code: 1000, reason: ""))
        try other.socket(.ended(error: nil))
        #expect(other.machine.standing == .paused)
    }

    @Test func `resume before the pause has begun dials as soon as the socket is gone`() throws {
        var world = try open()
        try world.tell(.pauseRequested)
        let resume7 = try world.tell(.resumeRequested)
        #expect(resume7.isEmpty)
        let actions = try world.socket(.ended(error: nil))
        #expect(actions.records == [.closed(code: 1006, reason: "", clean: false, by: .bridge), .connecting])
    }

    @Test(arguments: [ConnectionMachine.Event.connectRequested, .reconnectRequested])
    func `connect and reconnect end a pause`(request: ConnectionMachine.Event) throws {
        var world = try paused()
        let actions = try world.tell(request)
        #expect(actions.records == [.resumed, .connecting])
    }

    @Test func `disconnect turns a pause into an end`() throws {
        var world = try paused()
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        try world.tell(.resumeRequested)
        #expect(world.machine.standing == .closed)
        #expect(world.machine.uplink == .shut)
    }

    @Test func `a disconnect under way is not turned into a pause`() throws {
        var world = try open()
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        try world.tell(.pauseRequested)
        try world.socket(.ended(error: nil))
        #expect(world.machine.standing == .closed)
    }

    @Test func `what is closed or has given up is not paused`() throws {
        var closed = ConnectionWorld()
        try closed.tell(.disconnectRequested(code: 1000, reason: ""))
        let pause8 = try closed.tell(.pauseRequested)
        #expect(pause8.isEmpty)
        var failed = ConnectionWorld { $0.reconnect.maxRetries = 0 }
        try failed.tell(.started)
        try failed.socket(.refused)
        let pause9 = try failed.tell(.pauseRequested)
        #expect(pause9.isEmpty)
        #expect(failed.machine.standing == .failed)
    }

    @Test func `the bridge can stop while paused`() throws {
        var world = try paused()
        let stop10 = try world.tell(.stopRequested)
        #expect(stop10.last == .finished)
    }

    @Test(arguments: [ConnectionMachine.Event.pauseRequested, .resumeRequested])
    func `neither keeps a bridge from stopping`(request: ConnectionMachine.Event) throws {
        var world = try open()
        try world.tell(.stopRequested)
        let answer11 = try world.tell(request)
        #expect(answer11.isEmpty)
        try world.socket(.ended(error: nil))
        #expect(world.isFinished)
        let answer12 = try world.tell(request)
        #expect(answer12.isEmpty)
    }

    @Test func `a connection for receiving takes no messages, whatever its state`() throws {
        var world = ConnectionWorld { $0.receiveOnly = true }
        #expect(world.machine.uplink == .receiveOnly)
        try world.tell(.started)
        try world.socket(.plainlyOpened)
        #expect(world.machine.uplink == .receiveOnly)
        #expect(world.machine.isReady)
    }
}
