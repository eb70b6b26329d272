import BridgeCore
import Testing

@Suite struct ReadinessTests {
    private let wall = WallTime(millisecondsSince1970: 0)

    private func status(
        _ name: String,
        _ prepare: (inout ConnectionWorld) throws -> Void = { _ in },
        tally change: (inout ConnectionTally) -> Void = { _ in }
    ) throws -> ConnectionStatus {
        var world = ConnectionWorld()
        try prepare(&world)
        var tally = ConnectionTally(at: wall)
        change(&tally)
        return ConnectionStatus(
            name: name,
            url: "ws://secret.example",
            machine: world.machine,
            outbox: Outbox(OutboxSettings(), as: .one),
            tally: tally,
            now: world.now,
            wall: wall
        )
    }

    private func open(_ name: String) throws -> ConnectionStatus {
        try status(name) { world in
            try world.tell(.started)
            try world.socket(.plainlyOpened)
        }
    }

    @Test func `is there when every connection is ready, or there is none`() throws {
        let response = Readiness([try open("a"), try open("b")], isStopping: false)
            .response(named: true, fields: [])
        #expect(response.status == 200)
        let expected =
            #"{"ready":true,"connections":[{"name":"a","state":"open","reason":null},"#
            + #"{"name":"b","state":"open","reason":null}]}"#
        #expect(response.text == expected + "\n")
        #expect(Readiness([], isStopping: false).isReady)
    }

    @Test func `is not there while one is missing`() throws {
        let failed = try status("b") { world in
            try world.tell(.started)
            try world.socket(.answered(403))
        } tally: { tally in
            tally.happened(.failed(DialFailure(phase: .handshake, status: 403, error: "secret")), at: wall)
        }
        let readiness = Readiness([try open("a"), failed], isStopping: false)
        let response = readiness.response(named: true, fields: [])
        #expect(response.status == 503)
        let row =
            #"{"name":"b","state":"waiting","reason":"waiting to connect again; the last attempt failed at handshake with 403"}"#
        #expect(response.text.contains(row))
    }

    @Test func `ends when the bridge is stopping`() throws {
        let readiness = Readiness([try open("a")], isStopping: true)
        #expect(!readiness.isReady)
        #expect(readiness.rows.first?.reason == "the bridge is stopping")
        #expect(!Readiness([], isStopping: true).isReady)
    }

    @Test(
        arguments: [
            (.started, "connecting"), (.disconnectRequested(code: 1000, reason: ""), "closed"),
            (.pauseRequested, "paused"), (.resumeRequested, "not asked to connect yet"),
        ] as [(ConnectionMachine.Event, String)]
    )
    func `says why it is not there`(event: ConnectionMachine.Event, reason: String) throws {
        let status = try status("a") { try $0.tell(event) }
        #expect(Readiness([status], isStopping: false).rows.first?.reason == reason)
    }

    @Test func `says that there is no network`() throws {
        let status = try status("a") { world in
            try world.tell(.networkLost)
            try world.tell(.started)
        }
        let row = try #require(Readiness([status], isStopping: false).rows.first)
        #expect(row.state == "offline")
        #expect(row.reason == "there is no network to the upstream")
    }

    @Test func `shows neither names nor what a caller may not see`() throws {
        let readiness = Readiness([try open("a"), try open("b")], isStopping: false)
        let anonymous = readiness.response(named: false, fields: [])
        #expect(!anonymous.text.contains("name"))
        #expect(!anonymous.text.contains("secret"))
        let covered = readiness.response(named: true, fields: []) { $0 == "b" }
        #expect(!covered.text.contains(#""a""#))
        #expect(covered.text.contains(#""b""#))
    }
}
