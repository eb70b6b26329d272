import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct ConnectionStatusTests {
    static let wall = WallTime(millisecondsSince1970: 1_000_000_000_000)

    private func json(_ status: ConnectionStatus) -> String {
        var writer = JSONWriter()
        writer.object { json in
            status.writeMembers(to: &json, subscribers: 2, gaps: 1) { $0.member("messages", 12) }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func status(of world: ConnectionWorld, _ tally: ConnectionTally) -> ConnectionStatus {
        ConnectionStatus(
            name: "default",
            url: "wss://example.org/feed",
            machine: world.machine,
            outbox: Outbox(OutboxSettings(), as: .one),
            tally: tally,
            now: world.now,
            wall: Self.wall
        )
    }

    @Test func `the status of a fresh connection has every member of the contract`() {
        let status = status(of: ConnectionWorld(), ConnectionTally(at: Self.wall))
        let expected = """
            {"name":"default","url":"wss://example.org/feed","state":"idle","ready":false,\
            "since":"2001-09-09T01:46:40.000Z","attempt":0,"nextAttemptAt":null,"subprotocol":null,\
            "compression":false,"tls":null,"network":"reachable",\
            "heartbeat":{"intervalMs":20000,"missLimit":2,"misses":0,"lastAnswerAt":null,"rttMs":null},\
            "outbox":{"messages":0,"bytes":0,"maxMessages":1000,"oldestAgeMs":null},\
            "history":{"messages":12},"subscribers":2,\
            "counters":{"received":0,"receivedBytes":0,"sent":0,"sentBytes":0,"opens":0,"closes":0,\
            "failures":0,"heartbeatsSent":0,"heartbeatsMissed":0,"expired":0,"dropped":0,"gaps":1},\
            "lastClose":null,"lastError":null}
            """
        #expect(json(status) == expected)
    }

    @Test func `an open connection shows what its handshake agreed on`() throws {
        var world = ConnectionWorld()
        try world.tell(.started)
        try world.socket(.opened(subprotocol: "v2", compression: true))
        let status = status(of: world, ConnectionTally(at: Self.wall))
        #expect(status.isReady)
        #expect(status.subprotocol == "v2")
        #expect(status.compression)
    }

    @Test func `a scheduled retry shows when it is due`() throws {
        var world = ConnectionWorld { $0.reconnect.jitter = 0 }
        try world.tell(.started)
        try world.socket(.refused)
        try world.advance(.milliseconds(200))
        let status = status(of: world, ConnectionTally(at: Self.wall))
        #expect(status.attempt == 1)
        #expect(status.nextAttemptAt?.millisecondsSince1970 == 1_000_000_000_300)
    }

    @Test func `the last answer to a heartbeat shows its time and its round trip`() throws {
        var world = try ConnectionWorld.open()
        let payload = try world.beat(.seconds(20))
        try world.advance(.microseconds(1500))
        try world.socket(.pong(payload))
        try world.advance(.seconds(2))
        let status = status(of: world, ConnectionTally(at: Self.wall))
        #expect(status.heartbeats.lastAnswerAt?.millisecondsSince1970 == 999_999_998_000)
        #expect(json(status).contains(#""rttMs":1.5}"#))
    }

    @Test func `the last close and the last error show what was recorded, and when`() {
        var tally = ConnectionTally(at: Self.wall)
        tally.happened(.closed(code: 4000, reason: "bye", clean: true, by: .server), at: Self.wall)
        tally.happened(.failed(DialFailure(phase: .tcp, error: "connection refused")), at: Self.wall)
        let text = json(status(of: ConnectionWorld(), tally))
        let close = #""lastClose":{"code":4000,"reason":"bye","clean":true,"by":"server","at":"2001-"#
        let error = #""lastError":{"phase":"tcp","status":null,"error":"connection refused","at":"2001-"#
        #expect(text.contains(close))
        #expect(text.contains(error))
    }

    @Test func `the tally counts messages, their bytes and events`() {
        var tally = ConnectionTally(at: Self.wall)
        tally.received(bytes: 3)
        tally.received(bytes: 4)
        tally.sent(bytes: 5)
        for event in [
            Lifecycle.open(subprotocol: nil, reconnected: false), .heartbeatMissed(misses: 1), .ready,
        ] {
            tally.happened(event, at: Self.wall)
        }
        tally.happened(.messageExpired(id: "e-1"), at: Self.wall)
        tally.happened(.messageDropped(id: "e-2"), at: Self.wall)
        #expect((tally.received, tally.receivedBytes) == (2, 7))
        #expect((tally.sent, tally.sentBytes) == (1, 5))
        #expect((tally.opens, tally.heartbeatsMissed) == (1, 1))
        #expect((tally.expired, tally.dropped) == (1, 1))
    }

    @Test func `since is when the state last changed`() {
        var tally = ConnectionTally(at: Self.wall)
        let later = WallTime(millisecondsSince1970: Self.wall.millisecondsSince1970 + 5)
        tally.stands(.idle, at: later)
        #expect(tally.since == Self.wall)
        tally.stands(.connecting, at: later)
        #expect(tally.since == later)
    }
}
