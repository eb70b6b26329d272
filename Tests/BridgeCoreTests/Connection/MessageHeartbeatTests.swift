import Testing
import WebSocketProtocol

@testable import BridgeCore

/// Heartbeats that are messages, their answers, and what is listened for alone.
@Suite struct `Heartbeats that are messages` {
    static let interval = Duration.seconds(20)

    private static func world(
        _ send: HeartbeatSettings.Beat,
        _ configure: (inout HeartbeatSettings) -> Void = { _ in }
    ) throws -> ConnectionWorld {
        try ConnectionWorld.open {
            $0.heartbeat.send = send
            configure(&$0.heartbeat)
        }
    }

    private static func text(_ text: String) throws -> HeartbeatSettings.Beat {
        .message(try MessageTemplate(text: text))
    }

    @Test func `go out once an interval, one at a time`() throws {
        var world = try Self.world(Self.text("ping"))
        let first = try world.advance(Self.interval)
        try world.writeHeartbeat()
        try world.socket(.text("pong"))
        let second = try world.advance(Self.interval)
        #expect(first.beats == [Message(.text, Array("ping".utf8))])
        #expect(first.pings.isEmpty)
        #expect(second.beats == first.beats)
        let stuck = try world.advance(Self.interval)
        #expect(stuck.beats.isEmpty)
        #expect(world.machine.heartbeatsSent == 1)
    }

    @Test func `may be bytes`() throws {
        var world = try Self.world(.message(try MessageTemplate(base64: "AAE="))) { $0.expect = .binary([2]) }
        let actions = try world.advance(Self.interval)
        #expect(actions.beats == [Message(.binary, [0, 1])])
        try world.writeHeartbeat()
        let answer = try world.socket(.message(Message(.binary, [2])))
        #expect(answer.delivered.isEmpty)
        #expect(world.machine.pulse?.lastAnswer != nil)
    }

    @Test func `are answered by pong, which no subscriber gets to see`() throws {
        var world = try Self.world(Self.text("ping"))
        try world.beat(Self.interval)
        try world.advance(.milliseconds(40))
        let answer = try world.socket(.text("pong"))
        #expect(answer.delivered.isEmpty)
        #expect(world.machine.pulse?.roundTrip == .milliseconds(40))
        #expect(world.machine.pulse?.lastAnswer == world.now)
        #expect(
            answer.contains(.passOver(Message(.text, Array("pong".utf8)), isAnswer: true, from: world.id))
        )
        let other = try world.socket(.message(Message(.binary, Array("pong".utf8))))
        let more = try world.socket(.text("pong!"))
        #expect(other.delivered.count + more.delivered.count == 2)
    }

    @Test func `are answered by what expect matches, and by nothing else`() throws {
        var world = try Self.world(Self.text("ping")) { $0.expect = .prefix("alive") }
        try world.beat(Self.interval)
        let pong = try world.socket(.text("pong"))
        #expect(pong.delivered.count == 1)
        #expect(world.machine.pulse?.lastAnswer == nil)
        let answer = try world.socket(.text("alive and well"))
        #expect(answer.delivered.isEmpty)
        #expect(world.machine.pulse?.lastAnswer != nil)
    }

    @Test func `a ping with expect is answered by the message, not by the pong`() throws {
        var world = try Self.world(.ping) { $0.expect = .equals("yes") }
        let payload = try world.beat(Self.interval)
        try world.socket(.pong(payload))
        #expect(world.machine.pulse?.lastAnswer == nil)
        try world.socket(.text("yes"))
        #expect(world.machine.pulse?.lastAnswer == world.now)
    }

    @Test(arguments: [Duration.zero, .seconds(20)])
    func `what matches is not forwarded whatever the interval is, and is replied to`(interval: Duration)
        throws
    {
        var world = try Self.world(.none) {
            $0.interval = interval
            $0.expect = .equals("ping")
            $0.reply = try? MessageTemplate(text: "pong")
        }
        let actions = try world.socket(.text("ping"))
        #expect(actions.delivered.isEmpty)
        #expect(actions.replies == [Message(.text, Array("pong".utf8))])
        #expect(world.machine.pulse?.lastAnswer == world.now)
        #expect(world.machine.pulse?.roundTrip == nil)
    }

    @Test func `a match is not forwarded while the connection closes either`() throws {
        var world = try Self.world(Self.text("ping"))
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        let answer = try world.socket(.text("pong"))
        let other = try world.socket(.text("news"))
        #expect(answer.isEmpty)
        #expect(other.delivered.count == 1)
    }

    @Test func `a reply is made of the message at hand, of the newest values, of the time and of numbers`()
        throws
    {
        let pointer = try #require(JSONPointer("/ping"))
        var world = try Self.world(.none) {
            $0.expect = .json(JSONConditions([.init(pointer, nil)]))
            $0.reply = try? MessageTemplate(text: "{{/ping}} {{last:/seq}} {{counter}} {{nowMillis}}")
        }
        try world.socket(.text("{\"seq\":41}"))
        let first = try world.socket(.text("{\"ping\":1,\"seq\":42}"))
        try world.advance(.seconds(1))
        let second = try world.socket(.text("{\"ping\":2}"))
        #expect((first + second).replies.map(\.bytes) == ["1 42 1 0", "2 42 2 1000"].map { Array($0.utf8) })
    }

    @Test func `the newest values outlive a socket, and numbers begin anew with each`() throws {
        var world = try Self.world(Self.text("{{last:/seq}} {{counter}}"))
        try world.socket(.text("{\"seq\":7}"))
        let before = try world.advance(Self.interval).beats
        try world.socket(.ended(error: nil))
        try world.advance(.seconds(1))
        try world.socket(.plainlyOpened)
        let after = try world.advance(Self.interval).beats
        #expect((before + after).map(\.bytes) == ["7 1", "7 1"].map { Array($0.utf8) })
    }

    @Test func `of a flood of matches only the newest waits for its reply`() throws {
        var world = try Self.world(.none) {
            $0.expect = .any
            $0.reply = try? MessageTemplate(text: "{{/n}}/{{counter}}")
        }
        let replies = try (0..<10_000).flatMap { try world.socket(.text("{\"n\":\($0)}")).replies }
        #expect(replies.count == 64)
        let afterwards = try (0..<100).flatMap { _ in
            try world.tell(.frameWritten(SocketID(1), .reply)).replies
        }
        #expect(afterwards.map(\.bytes) == [Array("9999/65".utf8)])
    }

    @Test func `large replies wait for one another`() throws {
        var world = try Self.world(.none) {
            $0.expect = .any
            $0.reply = try? MessageTemplate(text: "{{/n}}")
        }
        let large = String(repeating: "x", count: 100_000)
        let first = try world.socket(.text("{\"n\":\"\(large)\"}")).replies
        let second = try world.socket(.text("{\"n\":\"\(large)\"}")).replies
        let later = try world.tell(.frameWritten(SocketID(1), .reply)).replies
        #expect((first.count, second.count, later.count) == (1, 0, 1))
    }

    @Test func `what cannot be made is neither sent nor missed`() throws {
        var world = try Self.world(.message(try MessageTemplate(base64: "{{last:/b}}="))) {
            $0.expect = .any
            $0.alive = .answer
        }
        let actions = try world.advance(Self.interval * 10)
        #expect(actions.beats.isEmpty)
        #expect(actions.records.isEmpty)
        try world.socket(.text("{\"b\":\"AAE\"}"))
        let later = try world.advance(Self.interval)
        #expect(later.beats == [Message(.binary, [0, 1])])
    }
}
