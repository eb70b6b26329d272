import BridgeCore
import Testing
import WebSocketTestSupport

@Suite struct RateLimitTests {
    private static let start = Instant(nanoseconds: 5)
    private static let socket = SocketID(1)

    private func limit(_ messages: Int, per span: Duration = .seconds(1)) -> RateLimit {
        RateLimit(RateSettings(messages: messages, per: span))
    }

    /// Hands a frame over, which is written at once; returns whether there was room.
    private func send(_ limit: inout RateLimit, at now: Instant) -> Bool {
        guard limit.room(now: now) > 0 else { return false }
        limit.handed(to: Self.socket)
        limit.written(on: Self.socket, now: now)
        return true
    }

    @Test func `a span begins with each frame, not with the clock`() {
        var limit = limit(2)
        let times = [0, 900, 999, 1000, 1001, 1899, 1900, 2000].map { Self.start + .milliseconds($0) }
        let sent = times.map { send(&limit, at: $0) }
        #expect(sent == [true, true, false, true, false, false, true, true])
    }

    @Test func `when there is room again is known`() {
        var limit = limit(1)
        let free = limit.opening
        _ = send(&limit, at: Self.start)
        let next = limit.opening
        #expect(free == nil)
        #expect(next == Self.start + .seconds(1))
    }

    @Test func `what the kernel has not taken yet counts, however long it takes`() {
        var limit = limit(1)
        limit.handed(to: Self.socket)
        let late = Self.start + .seconds(100)
        let meanwhile = limit.room(now: late)
        limit.written(on: Self.socket, now: late)
        let after = limit.room(now: late + .milliseconds(999))
        let then = limit.room(now: late + .seconds(1))
        #expect([meanwhile, after, then] == [0, 0, 1])
    }

    @Test func `a new socket does not begin a new span`() {
        var limit = limit(3)
        _ = send(&limit, at: Self.start)
        limit.handed(to: Self.socket)
        limit.lost(Self.socket, now: Self.start + .milliseconds(500))
        let after = limit.room(now: Self.start + .milliseconds(999))
        let later = limit.room(now: Self.start + .milliseconds(1499))
        let last = limit.room(now: Self.start + .milliseconds(1500))
        #expect([after, later, last] == [1, 2, 3])
    }

    @Test func `another rate counts what was sent lately`() {
        var limit = limit(3)
        for _ in 0..<3 { _ = send(&limit, at: Self.start) }
        limit.change(to: RateSettings(messages: 2, per: .seconds(2)))
        let early = limit.room(now: Self.start + .milliseconds(1999))
        let late = limit.room(now: Self.start + .seconds(2))
        limit.change(to: RateSettings(messages: 9, per: .seconds(2)))
        let more = limit.room(now: Self.start + .seconds(2))
        #expect([early, late, more] == [0, 2, 9])
    }

    @Test func `each socket has what it was handed, and what does not count is no frame of it`() {
        var limit = limit(3)
        limit.handed(to: SocketID(1))
        limit.handed(to: SocketID(2))
        // A frame that did not count when it was handed over, as a pong or before there was a rate.
        limit.written(on: SocketID(3), now: Self.start)
        limit.lost(SocketID(1), now: Self.start)
        limit.written(on: SocketID(1), now: Self.start)
        let both = limit.room(now: Self.start)
        let one = limit.room(now: Self.start + .seconds(1))
        limit.written(on: SocketID(2), now: Self.start + .seconds(1))
        let none = limit.room(now: Self.start + .seconds(2))
        #expect([both, one, none] == [1, 2, 3])
    }

    @Test(arguments: 1...100 as ClosedRange<UInt64>)
    func `no span ever holds more, and none is held back without need`(seed: UInt64) {
        var dice = SeededGenerator(seed: seed)
        let messages = Int.random(in: 1...6, using: &dice)
        let span = Duration.milliseconds(Int.random(in: 1...50, using: &dice))
        var limit = limit(messages, per: span)
        var now = Self.start
        var written: [Instant] = []
        var inHand: [SocketID: Int] = [:]
        for _ in 0..<400 {
            now += .milliseconds(Int.random(in: 0...20, using: &dice))
            let recent = written.count { $0 + span > now }
            let socket = SocketID(UInt64.random(in: 1...3, using: &dice))
            let handed = inHand[socket] ?? 0
            let room = limit.room(now: now)
            #expect(room == max(0, messages - recent - inHand.values.reduce(0, +)))
            switch Int.random(in: 0..<20, using: &dice) {
            case 0:
                limit.lost(socket, now: now)
                // As if they had been taken.
                written += Array(repeating: now, count: handed)
                inHand[socket] = nil
            case 1...9 where handed > 0:
                limit.written(on: socket, now: now)
                written.append(now)
                inHand[socket] = handed - 1
            default:
                guard room > 0 else {
                    let isAllTaken = inHand.values.allSatisfy { $0 == 0 }
                    if isAllTaken, let opening = limit.opening { now = opening }
                    continue
                }
                limit.handed(to: socket)
                inHand[socket] = handed + 1
            }
        }
        let worst = written.indices.map { first in
            written[first...].prefix { $0 < written[first] + span }.count
        }.max()
        #expect(worst ?? 0 <= messages)
    }
}
