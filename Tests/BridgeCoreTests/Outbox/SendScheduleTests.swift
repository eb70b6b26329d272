import BridgeCore
import Testing
import WebSocketProtocol
import WebSocketTestSupport

@Suite struct SendScheduleTests {
    private static let start = Instant(nanoseconds: 0)

    /// A schedule with the outbox that it sends from.
    private struct Desk {
        var schedule: SendSchedule
        var outbox: Outbox
        var now = SendScheduleTests.start

        init(
            _ messages: Int,
            rate: RateSettings? = nil,
            confirm: OutboxSettings.Confirm = .written,
            maxMessages: Int = 1000
        ) throws {
            var settings = OutboxSettings()
            settings.confirm = confirm
            settings.maxMessages = maxMessages
            schedule = SendSchedule(rate: rate)
            outbox = Outbox(settings, as: .one)
            for _ in 0..<messages { try post() }
        }

        mutating func post() throws {
            _ = try outbox.append([Message(.text, [0x61])], uplink: .away, now: now)
        }

        mutating func next(isFull: Bool = false) -> SendSchedule.Frame? {
            let frame = schedule.next(from: &outbox, isFull: isFull, now: now)
            if let frame { schedule.handed(to: frame.socket ?? SocketID(1)) }
            return frame
        }

        /// What goes out next as a short word; it is written at once.
        mutating func word(isFull: Bool = false) -> String? {
            guard let frame = next(isFull: isFull) else { return nil }
            schedule.written(on: frame.socket ?? SocketID(1), now: now)
            switch frame {
            case .ping(_, let payload): return "ping\(payload)"
            case .own(_, let message, let frame): return "\(frame)\(message.bytes)"
            case .probe: return "probe"
            case .message(let departure):
                _ = outbox.written(departure.id)
                return "\(departure.id.number)"
            }
        }

        mutating func words(_ count: Int) -> [String] {
            (0..<count).compactMap { _ in word() }
        }

        mutating func answer(_ frame: SendSchedule.Frame?) -> [UInt64] {
            let payload: [UInt8]
            switch frame {
            case .ping(_, let bytes), .probe(let bytes): payload = bytes
            case .message, .own, nil: return []
            }
            guard let number = schedule.answered(payload) else { return [] }
            return outbox.confirmed(through: number).map(\.id.number)
        }
    }

    @Test func `a ping goes before all messages, also to a socket that is full`() throws {
        var desk = try Desk(2)
        let first = desk.word()
        desk.schedule.fellDue(.ping(SocketID(1), [7]))
        let full = [desk.word(isFull: true), desk.word(isFull: true)]
        let rest = desk.words(3)
        #expect(first == "1")
        #expect(full == ["ping[7]", nil])
        #expect(rest == ["2"])
    }

    @Test func `heartbeats that are messages and replies go before all others, in order and within the rate`()
        throws
    {
        var desk = try Desk(2, rate: RateSettings(messages: 2, per: .seconds(1)))
        desk.schedule.fellDue(.own(SocketID(1), Message(.text, [1]), .reply))
        let isHeld = desk.schedule.holdsHeartbeat
        desk.schedule.fellDue(.own(SocketID(1), Message(.text, [2]), .heartbeat))
        #expect(!isHeld)
        #expect(desk.schedule.holdsHeartbeat)
        let first = [desk.word(isFull: true), desk.word(isFull: true), desk.word()]
        #expect(first == ["reply[1]", "heartbeat[2]", nil])
        desk.now += .seconds(2)
        let rest = desk.words(3)
        #expect(rest == ["1", "2"])
    }

    @Test func `the rate holds pings and messages, and the ping goes next`() throws {
        var desk = try Desk(4, rate: RateSettings(messages: 2, per: .seconds(1)))
        let first = desk.words(4)
        desk.schedule.fellDue(.ping(SocketID(1), [7]))
        let held = desk.word()
        #expect(desk.schedule.holdsHeartbeat)
        let opening = desk.schedule.opening(for: desk.outbox, now: desk.now)
        desk.now = try #require(opening)
        let second = desk.words(4)
        #expect(first == ["1", "2"])
        #expect(held == nil)
        #expect(opening == Self.start + .seconds(1))
        #expect(second == ["ping[7]", "3"])
        #expect(!desk.schedule.holdsHeartbeat)
    }

    @Test func `nothing is to be waited for when nothing waits`() throws {
        var desk = try Desk(1, rate: RateSettings(messages: 1, per: .seconds(1)))
        let before = desk.schedule.opening(for: desk.outbox, now: desk.now)
        _ = desk.word()
        let after = desk.schedule.opening(for: desk.outbox, now: desk.now)
        try desk.post()
        let waiting = desk.schedule.opening(for: desk.outbox, now: desk.now)
        #expect([before, after, waiting] == [nil, nil, Self.start + .seconds(1)])
    }

    @Test func `a ping that is held has no use when its socket is gone`() throws {
        var desk = try Desk(0, rate: RateSettings(messages: 1, per: .seconds(1)))
        desk.schedule.fellDue(.ping(SocketID(1), [1]))
        _ = desk.word()
        desk.schedule.fellDue(.ping(SocketID(1), [2]))
        desk.schedule.fellDue(.ping(SocketID(2), [3]))
        desk.schedule.forget(SocketID(1))
        let waits = [1, 2].map { desk.schedule.waits(for: SocketID($0)) }
        #expect(waits == [false, true])
        desk.now += .seconds(10)
        let rest = [desk.word(), desk.word()]
        #expect(rest == ["ping[3]", nil])
    }

    @Test func `what no socket took, and what one had that is gone, holds nothing back for ever`() throws {
        var desk = try Desk(3, rate: RateSettings(messages: 1, per: .seconds(1)))
        desk.schedule.fellDue(.own(SocketID(2), Message(.text, [1]), .script))
        // The socket was over, and took nothing.
        let untaken = desk.schedule.next(from: &desk.outbox, isFull: false, now: desk.now)
        #expect(untaken?.socket == SocketID(2))
        #expect(desk.word() == "1")
        desk.now += .seconds(1)
        // This one took it, and ends before the kernel did, while the one with the messages goes on.
        desk.schedule.fellDue(.own(SocketID(3), Message(.text, [2]), .script))
        #expect(desk.next()?.socket == SocketID(3))
        desk.schedule.lost(SocketID(3), now: desk.now)
        #expect(desk.word() == nil)
        desk.now += .seconds(1)
        #expect(desk.words(2) == ["2"])
    }

    @Test func `a probe ends a batch, and one is enough for what comes meanwhile`() throws {
        var desk = try Desk(3, confirm: .pong)
        let batch = desk.words(3)
        let probe = desk.next()
        try desk.post()
        let later = desk.words(3)
        let proven = desk.answer(probe)
        let second = desk.next()
        #expect(batch == ["1", "2", "3"])
        #expect(later == ["4"])
        #expect(proven == [1, 2, 3])
        guard case .probe = second else { return #expect(second == nil, "a probe") }
        #expect(desk.answer(second) == [4])
        let rest = desk.word()
        #expect(rest == nil)
    }

    @Test func `a probe does not wait for the end of a queue that has none`() throws {
        var desk = try Desk(10, confirm: .pong, maxMessages: 16)
        #expect(desk.words(6) == ["1", "2", "3", "4", "probe", "5"])
    }

    @Test func `the machine's ping proves as much as a probe`() throws {
        var desk = try Desk(2, confirm: .pong)
        _ = desk.words(2)
        desk.schedule.fellDue(.ping(SocketID(1), [7]))
        let ping = desk.next()
        let probe = desk.word()
        #expect(probe == nil)
        #expect(desk.answer(ping) == [1, 2])
    }

    @Test func `a pong of a later ping proves what an earlier one would have`() throws {
        var desk = try Desk(1, confirm: .pong)
        _ = desk.words(1)
        let probe = desk.next()
        desk.schedule.fellDue(.ping(SocketID(1), [7]))
        let ping = desk.next()
        #expect(desk.answer(ping) == [1])
        #expect(desk.answer(probe) == [])
        // The probe is not awaited any more.
        try desk.post()
        #expect(desk.words(3) == ["2", "probe"])
    }

    @Test func `a probe that is forgotten among many pings is not awaited for ever`() throws {
        var desk = try Desk(1, confirm: .pong)
        _ = desk.words(1)
        let probe = desk.next()
        for number in 0..<100 as Range<UInt8> {
            desk.schedule.fellDue(.ping(SocketID(1), [number]))
            _ = desk.next()
        }
        #expect(desk.answer(probe) == [1])
    }

    @Test func `a pong of an old socket, or of nobody's ping, proves nothing`() throws {
        var desk = try Desk(1, confirm: .pong)
        _ = desk.words(1)
        let old = desk.next()
        desk.schedule.carrierLost()
        _ = desk.outbox.connectionLost(closeCode: nil)
        _ = desk.words(2)
        #expect(desk.answer(old) == [])
        #expect(desk.schedule.answered([1, 2, 3]) == nil)
    }

    @Test func `the last frame that the rate allows is the probe`() throws {
        var desk = try Desk(9, rate: RateSettings(messages: 3, per: .seconds(1)), confirm: .pong)
        #expect(desk.words(9) == ["1", "2", "probe"])
        desk.now += .seconds(1)
        // Unanswered, it is not asked for again.
        #expect(desk.words(9) == ["3", "4", "5"])
    }

    @Test func `without a rate another may be set, and without one again`() throws {
        var desk = try Desk(5)
        desk.schedule.change(rate: RateSettings(messages: 1, per: .seconds(1)))
        #expect(desk.words(5) == ["1"])
        #expect(desk.schedule.isRated)
        desk.schedule.change(rate: nil)
        #expect(desk.words(5) == ["2", "3", "4", "5"])
    }

    @Test(arguments: 1...100 as ClosedRange<UInt64>)
    func `whatever is posted, a ping goes out with the next frame, and the rate holds`(seed: UInt64) throws {
        var dice = SeededGenerator(seed: seed)
        let rate = RateSettings(
            messages: Int.random(in: 1...4, using: &dice),
            per: .milliseconds(Int.random(in: 1...30, using: &dice))
        )
        var desk = try Desk(50, rate: rate, confirm: Bool.random(using: &dice) ? .written : .pong)
        var times: [Instant] = []
        var next: UInt8 = 0
        for _ in 0..<500 {
            if Int.random(in: 0..<4, using: &dice) == 0, !desk.schedule.holdsHeartbeat {
                next &+= 1
                desk.schedule.fellDue(.ping(SocketID(1), [next]))
            }
            if desk.outbox.load(now: desk.now).messages < 900 { try desk.post() }
            let isDue = desk.schedule.holdsHeartbeat
            let frame = desk.next()
            if let frame {
                if isDue { #expect(frame == .ping(SocketID(1), [next])) }
                desk.schedule.written(on: SocketID(1), now: desk.now)
                times.append(desk.now)
                if case .message(let departure) = frame { _ = desk.outbox.written(departure.id) }
                if Bool.random(using: &dice) { _ = desk.answer(frame) }
            } else {
                let opening = desk.schedule.opening(for: desk.outbox, now: desk.now)
                desk.now = try #require(opening)
            }
            desk.now += .microseconds(Int.random(in: 0...3000, using: &dice))
        }
        let worst = times.indices.map { first in
            times[first...].prefix { $0 < times[first] + rate.per }.count
        }.max()
        #expect(worst ?? 0 <= rate.messages)
    }
}
