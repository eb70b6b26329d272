import BridgeCore
import Testing

/// What users and the end of the process ask for, in every state.
@Suite struct RequestTests {
    typealias Standing = ConnectionMachine.Standing

    private func world(_ standing: Standing) throws -> ConnectionWorld {
        let world = try ConnectionWorld(standing: standing)
        #expect(world.machine.standing == standing)
        return world
    }

    @Test(arguments: [Standing.idle, .waiting, .offline, .paused, .closed, .failed])
    func `connect dials at once`(from standing: Standing) throws {
        var world = try world(standing)
        let actions = try world.tell(.connectRequested)
        #expect(actions.dials == 1)
        #expect(world.machine.standing == .connecting)
    }

    @Test(arguments: [Standing.connecting, .open])
    func `connect changes nothing where there is a socket`(in standing: Standing) throws {
        var world = try world(standing)
        let actions = try world.tell(.connectRequested)
        #expect(actions.isEmpty)
    }

    @Test func `connect while closing dials as soon as the old socket is gone`() throws {
        var world = try world(.open)
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        try world.tell(.connectRequested)
        try world.socket(.closeFrame(code: 1000, reason: ""))
        let actions = try world.socket(.ended(error: nil))
        #expect(actions.dials == 1)
    }

    @Test func `connect after giving up allows as many retries again`() throws {
        var world = try world(.failed)
        try world.tell(.connectRequested)
        try world.socket(.refused)
        #expect(world.machine.standing == .waiting)
        #expect(world.machine.attempt == 1)
    }

    @Test(arguments: [Standing.idle, .connecting, .waiting, .offline, .paused, .closed, .failed])
    func `disconnect leaves the connection closed at once`(from standing: Standing) throws {
        var world = try world(standing)
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        let later = try world.advance(.seconds(3600))
        #expect(world.machine.standing == .closed)
        #expect(later.isEmpty)
    }

    @Test func `disconnect while connecting drops the socket and fails the attempt`() throws {
        var world = try world(.connecting)
        let actions = try world.tell(.disconnectRequested(code: 1000, reason: ""))
        #expect(actions.drops == 1)
        #expect(actions.records == [.failed(DialFailure(phase: .dns, error: "disconnected by the user"))])
    }

    @Test func `disconnect sends the code and the reason, then waits for the peer`() throws {
        var world = try world(.open)
        let actions = try world.tell(.disconnectRequested(code: 4001, reason: "enough"))
        #expect(actions.first == .sendClose(world.id, code: 4001, reason: "enough"))
        #expect(actions.timers == [.seconds(5)])
        #expect(world.machine.standing == .closing)
    }

    @Test func `a disconnect that the peer answers is clean and stays closed`() throws {
        var world = try world(.open)
        try world.tell(.disconnectRequested(code: 4001, reason: "enough"))
        try world.socket(.closeFrame(code: 4001, reason: ""))
        let actions = try world.socket(.ended(error: nil))
        #expect(actions.records == [.closed(code: 4001, reason: "", clean: true, by: .user)])
        #expect(world.machine.standing == .closed)
    }

    @Test func `a disconnect that the peer ignores ends in time`() throws {
        var world = try world(.open)
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        let actions = try world.advance(.seconds(5))
        #expect(actions.drops == 1)
        #expect(actions.records == [.closed(code: 1006, reason: "", clean: false, by: .user)])
        #expect(world.machine.standing == .closed)
    }

    @Test func `a peer that answers a disconnect but keeps the stream open gets no more time`() throws {
        var world = try world(.open)
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        try world.advance(.seconds(4))
        try world.socket(.closeFrame(code: 1000, reason: ""))
        let actions = try world.advance(.seconds(1))
        #expect(actions.records == [.closed(code: 1000, reason: "", clean: true, by: .user)])
    }

    @Test func `disconnect while the peer closes stops the reconnecting`() throws {
        var world = try world(.closing)
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        let actions = try world.socket(.ended(error: nil))
        #expect(actions.records == [.closed(code: 1000, reason: "bye", clean: true, by: .server)])
        #expect(world.machine.standing == .closed)
    }

    @Test func `disconnect is idempotent`() throws {
        var world = try world(.open)
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        let again = try world.tell(.disconnectRequested(code: 1001, reason: ""))
        #expect(again.isEmpty)
    }

    @Test(arguments: [Standing.idle, .connecting, .open, .closing, .waiting, .paused, .closed, .failed])
    func `reconnect dials a new socket at once`(from standing: Standing) throws {
        var world = try world(standing)
        let old = world.socket?.id
        let actions = try world.tell(.reconnectRequested)
        #expect(actions.dials == 1)
        #expect(world.socket?.id != old)
        #expect(world.machine.standing == .connecting)
    }

    @Test func `reconnect tells the old peer without waiting for it`() throws {
        var world = try world(.open)
        let old = world.id
        let actions = try world.tell(.reconnectRequested)
        #expect(actions.first == .sendClose(old, code: 1000, reason: ""))
        let expected: [Lifecycle] = [.closed(code: 1006, reason: "", clean: false, by: .user), .connecting]
        #expect(actions.records == expected)
    }

    @Test func `reconnect while the peer closes keeps the code it gave`() throws {
        var world = try world(.closing)
        let actions = try world.tell(.reconnectRequested)
        #expect(actions.records.first == .closed(code: 1000, reason: "bye", clean: true, by: .server))
    }

    @Test(arguments: [Standing.idle, .connecting, .waiting, .offline, .paused, .closed, .failed])
    func `stop ends at once where nothing is open`(in standing: Standing) throws {
        var world = try world(standing)
        let actions = try world.tell(.stopRequested)
        #expect(actions.last == .finished)
    }

    @Test func `stop closes an open connection as going away and waits for the peer`() throws {
        var world = try world(.open)
        let actions = try world.tell(.stopRequested)
        #expect(actions.first == .sendClose(world.id, code: 1001, reason: ""))
        #expect(!world.isFinished)
        try world.socket(.closeFrame(code: 1001, reason: ""))
        let end = try world.socket(.ended(error: nil))
        #expect(end.records == [.closed(code: 1001, reason: "", clean: true, by: .bridge)])
        #expect(end.last == .finished)
    }

    @Test(arguments: [Standing.open, .closing])
    func `stop ends in time whatever the peer does`(in standing: Standing) throws {
        var world = try world(standing)
        try world.tell(.stopRequested)
        try world.advance(.seconds(5))
        #expect(world.isFinished)
    }

    @Test(
        arguments: [
            .connectRequested, .disconnectRequested(code: 1000, reason: ""), .reconnectRequested,
            .stopRequested,
        ] as [ConnectionMachine.Event]
    )
    func `nothing keeps a connection that is to stop from its end`(request: ConnectionMachine.Event) throws {
        var world = try world(.open)
        try world.tell(.stopRequested)
        let actions = try world.tell(request)
        let end = try world.socket(.ended(error: nil))
        #expect(actions.isEmpty)
        #expect(end.last == .finished)
    }

    @Test func `after the end nothing has any effect`() throws {
        var world = try world(.idle)
        try world.tell(.stopRequested)
        let events: [ConnectionMachine.Event] = [
            .started, .connectRequested, .disconnectRequested(code: 1000, reason: ""), .reconnectRequested,
            .stopRequested, .timerFired(.init(1)), .socket(SocketID(1), .plainlyOpened),
        ]
        for event in events {
            let actions = try world.tell(event)
            #expect(actions.isEmpty)
        }
    }

    @Test(
        arguments: [
            (.idle, .away), (.connecting, .away), (.open, .ready), (.closing, .away), (.waiting, .away),
            (.paused, .away),
            (.closed, .shut), (.failed, .shut),
        ] as [(Standing, Outbox.Uplink)]
    )
    func `messages may wait where a connection is to come`(standing: Standing, uplink: Outbox.Uplink) throws {
        let world = try world(standing)
        #expect(world.machine.uplink == uplink)
    }

    @Test func `no message may wait while a disconnect is under way`() throws {
        var world = try world(.open)
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        #expect(world.machine.uplink == .shut)
    }
}
