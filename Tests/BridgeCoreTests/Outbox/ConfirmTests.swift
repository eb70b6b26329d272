import BridgeCore
import Testing
import WebSocketProtocol

/// An outbox whose messages are sent only when the peer is known to have them (`confirm: pong`).
@Suite struct ConfirmTests {
    static let start = Instant(nanoseconds: 0)

    private func outbox(_ texts: String..., configure: (inout OutboxSettings) -> Void = { _ in }) throws
        -> Outbox
    {
        var settings = OutboxSettings()
        settings.confirm = .pong
        configure(&settings)
        var outbox = Outbox(settings, as: .one)
        for text in texts {
            _ = try outbox.append([Message(.text, Array(text.utf8))], uplink: .away, now: Self.start)
        }
        return outbox
    }

    private func handOut(_ outbox: inout Outbox) throws -> Outbox.Departure {
        let departure = outbox.next()
        return try #require(departure)
    }

    /// Hands out and writes all that the outbox gives; returns the numbers.
    @discardableResult private func write(_ outbox: inout Outbox) -> [UInt64] {
        var numbers: [UInt64] = []
        while let departure = outbox.next() {
            numbers.append(departure.id.number)
            let sent = outbox.written(departure.id)
            #expect(sent == nil)
        }
        return numbers
    }

    @Test func `what was written is sent when it is confirmed, in order`() throws {
        var outbox = try outbox("a", "b", "c")
        write(&outbox)
        let sent = outbox.confirmed(through: 2)
        #expect(sent.map(\.id.number) == [1, 2])
        #expect(outbox.content.map(\.id.number) == [3])
        let again = outbox.confirmed(through: 2)
        #expect(again.isEmpty)
    }

    @Test func `what was not confirmed goes out again before newer ones`() throws {
        var outbox = try outbox("a", "b", "c", "d")
        for _ in 0..<2 {
            let departure = try handOut(&outbox)
            _ = outbox.written(departure.id)
        }
        _ = outbox.next()
        _ = outbox.confirmed(through: 1)
        _ = outbox.connectionLost(closeCode: nil)
        #expect(write(&outbox) == [2, 3, 4])
    }

    @Test func `the peer's word may come before the kernel's`() throws {
        var outbox = try outbox("a", "b")
        let first = try handOut(&outbox)
        let sent = outbox.confirmed(through: 1)
        #expect(sent.map(\.id) == [first.id])
        let late = outbox.written(first.id)
        #expect(late == nil)
        #expect(outbox.load(now: Self.start).bytes == 1)
    }

    @Test func `what is not confirmed counts for the bounds and cannot be dropped`() throws {
        var outbox = try outbox("a", "b") {
            $0.maxMessages = 2
            $0.overflow = .dropOldest
        }
        write(&outbox)
        let load = outbox.load(now: Self.start + .seconds(1))
        #expect(load == Outbox.Load(messages: 2, bytes: 2, maxMessages: 2, oldestAge: .seconds(1)))
        let message = Message(.text, [0x63])
        #expect(throws: OutboxError.full(.messages(limit: 2))) {
            try outbox.append([message], uplink: .ready, now: Self.start)
        }
        let dropped = outbox.dropAll()
        let isDropped = outbox.drop(MessageID(outbox: .one, number: 1))
        #expect(dropped.isEmpty)
        #expect(!isDropped)
    }

    @Test func `of several that may have been too big each goes alone, and the one that is is dropped`()
        throws
    {
        var outbox = try outbox("a", "big", "b", "c")
        write(&outbox)
        let first = outbox.connectionLost(closeCode: 1009)
        #expect(first == nil)
        // Alone, although there is more to send.
        #expect(write(&outbox) == [1])
        _ = outbox.confirmed(through: 1)
        #expect(write(&outbox) == [2])
        let second = outbox.connectionLost(closeCode: 1009)
        #expect(second?.number == 2)
        #expect(write(&outbox) == [3])
        _ = outbox.confirmed(through: 3)
        #expect(write(&outbox) == [4])
    }

    @Test func `one alone is blamed the second time only: the first may be for what was confirmed`() throws {
        var outbox = try outbox("a")
        write(&outbox)
        let first = outbox.connectionLost(closeCode: 1009)
        write(&outbox)
        let other = outbox.connectionLost(closeCode: 1006)
        write(&outbox)
        let second = outbox.connectionLost(closeCode: 1009)
        #expect([first, other, second].map { $0?.number } == [nil, nil, 1])
        #expect(outbox.isEmpty)
    }

    @Test func `what was not confirmed in time and comes back expires`() throws {
        var outbox = try outbox("a") { $0.maxAge = .seconds(1) }
        write(&outbox)
        let out = outbox.expire(now: Self.start + .seconds(2))
        _ = outbox.connectionLost(closeCode: nil)
        let back = outbox.expire(now: Self.start + .seconds(2))
        #expect(out.isEmpty)
        #expect(back.map(\.number) == [1])
    }

    /// Lets a fresh socket take all that goes out; returns the numbers of the messages, and nil for each probe.
    private func drain(_ outbox: inout Outbox, _ schedule: inout SendSchedule) -> (
        out: [UInt64?], probe: [UInt8]
    ) {
        var out: [UInt64?] = []
        var newest: [UInt8] = []
        while let frame = schedule.next(from: &outbox, isFull: false, now: Self.start) {
            switch frame {
            case .message(let departure):
                _ = outbox.written(departure.id)
                out.append(departure.id.number)
            case .probe(let payload):
                newest = payload
                out.append(nil)
            case .ping, .own: break
            }
        }
        return (out, newest)
    }

    @Test func `where connections drop before there is a proof, it is asked for sooner, and later again`()
        throws
    {
        var outbox = try outbox("a", "b", "c", "d", "e", "f")
        var schedule = SendSchedule(rate: nil)
        #expect(drain(&outbox, &schedule).out == [1, 2, 3, 4, 5, 6, nil])
        for expected: [UInt64?] in [[1, 2, 3, nil, 4, 5, 6], [1, nil, 2, 3, 4, 5, 6]] {
            _ = outbox.connectionLost(closeCode: nil)
            schedule.carrierLost()
            let drained = drain(&outbox, &schedule)
            #expect(drained.out == expected)
        }
        _ = outbox.connectionLost(closeCode: nil)
        schedule.carrierLost()
        let (_, probe) = drain(&outbox, &schedule)
        let proven = schedule.answered(probe)
        #expect(proven == 1)
        _ = outbox.confirmed(through: 1)
        _ = outbox.connectionLost(closeCode: nil)
        schedule.carrierLost()
        #expect(drain(&outbox, &schedule).out == [2, 3, nil, 4, 5, 6])
    }
}
