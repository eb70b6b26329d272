import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct OutboxTests {
    static let start = Instant(nanoseconds: 0)

    private func outbox(_ configure: (inout OutboxSettings) -> Void = { _ in }) -> Outbox {
        var settings = OutboxSettings()
        configure(&settings)
        return Outbox(settings, as: .one)
    }

    private func message(_ text: String) -> Message {
        Message(.text, Array(text.utf8))
    }

    /// Queues these texts at the start of time.
    private func fill(_ outbox: inout Outbox, _ texts: String...) throws {
        for text in texts {
            _ = try outbox.append([message(text)], uplink: .away, now: Self.start)
        }
    }

    private func handOut(_ outbox: inout Outbox) throws -> Outbox.Departure {
        let departure = outbox.next()
        return try #require(departure)
    }

    /// All that the outbox hands out from now on.
    private func drain(_ outbox: inout Outbox) -> [String] {
        var texts: [String] = []
        while let departure = outbox.next() {
            texts.append(String(decoding: departure.message.bytes, as: UTF8.self))
        }
        return texts
    }

    @Test func `messages go out in the order in which they came`() throws {
        var outbox = outbox()
        try fill(&outbox, "a", "b", "c")
        #expect(drain(&outbox) == ["a", "b", "c"])
    }

    @Test func `each message has an id of its own that names the outbox`() throws {
        var outbox = outbox()
        let first = try outbox.append([message("a")], uplink: .ready, now: Self.start)
        let second = try outbox.append([message("a")], uplink: .ready, now: Self.start)
        #expect(first.ids != second.ids)
        #expect(first.ids.map(\.outbox) == [.one])
    }

    @Test func `what was in flight goes back in front, in order`() throws {
        var outbox = outbox()
        try fill(&outbox, "a", "b", "c")
        _ = outbox.next()
        _ = outbox.next()
        let refused = outbox.connectionLost(closeCode: 1006)
        #expect(refused == nil)
        #expect(drain(&outbox) == ["a", "b", "c"])
    }

    @Test func `what was written does not go out again`() throws {
        var outbox = outbox()
        try fill(&outbox, "a", "bc")
        let first = try handOut(&outbox)
        _ = outbox.next()
        let written = outbox.written(first.id)
        #expect(written == message("a"))
        _ = outbox.connectionLost(closeCode: nil)
        #expect(drain(&outbox) == ["bc"])
    }

    @Test func `only the first message in flight can have been written`() throws {
        var outbox = outbox()
        try fill(&outbox, "a", "b", "c")
        _ = outbox.next()
        let second = try handOut(&outbox)
        #expect(outbox.written(second.id) == nil)
        #expect(outbox.written(MessageID(outbox: .another, number: 1)) == nil)
        #expect(outbox.load(now: Self.start).messages == 3)
    }

    @Test func `the outbox is full at its number of messages, in flight included`() throws {
        var outbox = outbox { $0.maxMessages = 2 }
        try fill(&outbox, "a", "b")
        let first = try handOut(&outbox)
        #expect(throws: OutboxError.full(.messages(limit: 2))) { try fill(&outbox, "c") }
        _ = outbox.written(first.id)
        try fill(&outbox, "c")
        #expect(drain(&outbox) == ["b", "c"])
    }

    @Test func `the outbox is full at its number of bytes, in flight included`() throws {
        var outbox = outbox { $0.maxBytes = 4 }
        try fill(&outbox, "ab", "cd")
        _ = outbox.next()
        #expect(throws: OutboxError.full(.bytes(limit: 4))) { try fill(&outbox, "e") }
        try fill(&outbox, "")
        #expect(outbox.load(now: Self.start).bytes == 4)
    }

    @Test func `a message larger than the whole outbox is too large`() throws {
        var outbox = outbox { $0.maxBytes = 4 }
        try fill(&outbox, "abcd")
        #expect(throws: OutboxError.tooLarge(limit: 4)) { try fill(&outbox, "abcde") }
    }

    @Test func `with dropOldest the oldest that wait make room`() throws {
        var outbox = outbox {
            $0.overflow = .dropOldest
            $0.maxBytes = 4
        }
        try fill(&outbox, "a", "b", "cd")
        let receipt = try outbox.append([message("ef")], uplink: .away, now: Self.start)
        #expect(receipt.dropped.map(\.number) == [1, 2])
        #expect(drain(&outbox) == ["cd", "ef"])
    }

    @Test func `with dropOldest what is in flight is not dropped, and nothing is in vain`() throws {
        var outbox = outbox {
            $0.overflow = .dropOldest
            $0.maxBytes = 4
        }
        try fill(&outbox, "abc", "d")
        _ = outbox.next()
        #expect(throws: OutboxError.full(.bytes(limit: 4))) { try fill(&outbox, "ef") }
        #expect(drain(&outbox) == ["d"])
    }

    @Test(arguments: [(Outbox.Uplink.ready, true), (.away, false)])
    func `a message that must not wait is taken only while the connection is ready`(
        uplink: Outbox.Uplink,
        isTaken: Bool
    ) throws {
        var outbox = outbox()
        let receipt = try? outbox.append([message("a")], uplink: uplink, mayWait: false, now: Self.start)
        #expect((receipt != nil) == isTaken)
    }

    @Test func `whenOffline reject refuses what cannot go out`() throws {
        var outbox = outbox { $0.whenOffline = .reject }
        #expect(throws: OutboxError.offline) { try fill(&outbox, "a") }
    }

    @Test func `a connection that is down for good takes nothing`() throws {
        var outbox = outbox()
        #expect(throws: OutboxError.closed) {
            try outbox.append([message("a")], uplink: .shut, now: Self.start)
        }
    }

    @Test func `several messages are taken all or none`() throws {
        var outbox = outbox { $0.maxMessages = 3 }
        try fill(&outbox, "a")
        let several = ["b", "c", "d"].map { message($0) }
        #expect(throws: OutboxError.full(.messages(limit: 3))) {
            try outbox.append(several, uplink: .away, now: Self.start)
        }
        let receipt = try outbox.append(Array(several.dropLast()), uplink: .away, now: Self.start)
        #expect(receipt.ids.map(\.number) == [2, 3])
        #expect(drain(&outbox) == ["a", "b", "c"])
    }

    @Test func `more than the outbox may ever hold is not told to come again`() throws {
        var outbox = outbox {
            $0.maxMessages = 2
            $0.maxBytes = 4
        }
        let three = ["", "", ""].map { message($0) }
        #expect(throws: OutboxError.tooMany(limit: 2)) {
            try outbox.append(three, uplink: .away, now: Self.start)
        }
        let long = ["abc", "de"].map { message($0) }
        #expect(throws: OutboxError.tooLarge(limit: 4)) {
            try outbox.append(long, uplink: .away, now: Self.start)
        }
    }

    @Test func `no messages are taken at no cost`() throws {
        var outbox = outbox { $0.maxMessages = 1 }
        try fill(&outbox, "a")
        let receipt = try outbox.append([], uplink: .away, now: Self.start)
        #expect(receipt.ids.isEmpty)
        #expect(receipt.dropped.isEmpty)
    }

    @Test func `a connection for receiving takes nothing`() throws {
        var outbox = outbox()
        #expect(throws: OutboxError.receiveOnly) {
            try outbox.append([message("a")], uplink: .receiveOnly, now: Self.start)
        }
    }

    @Test func `what is queued can be dropped, what is in flight stays`() throws {
        var outbox = outbox()
        try fill(&outbox, "a", "bb", "ccc", "d")
        let first = try handOut(&outbox)
        let inFlight = outbox.drop(first.id)
        let queued = outbox.drop(MessageID(outbox: .one, number: 3))
        let again = outbox.drop(MessageID(outbox: .one, number: 3))
        let foreign = outbox.drop(MessageID(outbox: .another, number: 2))
        #expect([inFlight, queued, again, foreign] == [false, true, false, false])
        #expect(outbox.load(now: Self.start).bytes == 4)
        let rest = outbox.dropAll()
        #expect(rest.map(\.number) == [2, 4])
        #expect(outbox.load(now: Self.start).bytes == 1)
        let written = outbox.written(first.id)
        #expect(written == message("a"))
    }

    @Test func `the content is listed in the order in which it goes out`() throws {
        var outbox = outbox()
        try fill(&outbox, "a", "bb")
        _ = outbox.next()
        _ = try outbox.append([Message(.binary, [1, 2, 3])], uplink: .away, now: Self.start)
        #expect(outbox.content.map(\.id.number) == [1, 2, 3])
        #expect(outbox.content.map(\.bytes) == [1, 2, 3])
        #expect(outbox.content.map(\.kind) == [.text, .text, .binary])
    }

    @Test func `a message that caused 1009 is not replayed for ever`() throws {
        var outbox = outbox()
        try fill(&outbox, "big", "small")
        _ = drain(&outbox)
        let first = outbox.connectionLost(closeCode: 1009)
        _ = drain(&outbox)
        let second = outbox.connectionLost(closeCode: 1009)
        #expect(first == nil)
        #expect(second?.number == 1)
        #expect(drain(&outbox) == ["small"])
        #expect(outbox.load(now: Self.start).bytes == 5)
    }

    @Test func `a message behind one that was too big is not blamed for it`() throws {
        var outbox = outbox()
        try fill(&outbox, "big", "small")
        let big = try handOut(&outbox)
        _ = outbox.next()
        _ = outbox.written(big.id)
        let refused = outbox.connectionLost(closeCode: 1009)
        #expect(refused == nil)
        #expect(drain(&outbox) == ["small"])
    }

    @Test func `messages expire at their age, oldest first`() throws {
        var outbox = outbox { $0.maxAge = .seconds(10) }
        try fill(&outbox, "a", "b")
        let later = Self.start + .seconds(5)
        _ = try outbox.append([message("c")], uplink: .away, now: later)
        #expect(outbox.nextExpiry == Self.start + .seconds(10))
        let early = outbox.expire(now: Self.start + .milliseconds(9999))
        let due = outbox.expire(now: Self.start + .seconds(10))
        #expect(early.isEmpty)
        #expect(due.map(\.number) == [1, 2])
        #expect(drain(&outbox) == ["c"])
    }

    @Test func `what is in flight does not expire`() throws {
        var outbox = outbox { $0.maxAge = .seconds(10) }
        try fill(&outbox, "a")
        _ = outbox.next()
        let expired = outbox.expire(now: Self.start + .seconds(100))
        #expect(expired.isEmpty)
        #expect(outbox.nextExpiry == nil)
    }

    @Test func `the load counts what waits and what is in flight`() throws {
        var outbox = outbox()
        try fill(&outbox, "abc", "de")
        _ = outbox.next()
        let load = outbox.load(now: Self.start + .seconds(3))
        #expect(load == Outbox.Load(messages: 2, bytes: 5, maxMessages: 1000, oldestAge: .seconds(3)))
    }

    @Test func `the load of an empty outbox has no age`() {
        let load = outbox().load(now: Self.start)
        #expect(load == Outbox.Load(messages: 0, bytes: 0, maxMessages: 1000, oldestAge: nil))
    }

    @Test func `what finds no room in memory is refused, and later taken`() throws {
        var outbox = outbox()
        try fill(&outbox, "a")
        let each = outbox.memoryBytes
        let none = OutboxRoom(total: 10 * each, free: each - 1)
        #expect(throws: OutboxError.full(.memory)) {
            try outbox.append([message("b")], uplink: .away, room: none, now: Self.start)
        }
        let room = OutboxRoom(total: 10 * each, free: each)
        let receipt = try outbox.append([message("b")], uplink: .away, room: room, now: Self.start)
        #expect(receipt.dropped.isEmpty)
        #expect(drain(&outbox) == ["a", "b"])
    }

    @Test func `dropOldest makes room in memory as well, and keeps the order`() throws {
        var outbox = outbox { $0.overflow = .dropOldest }
        try fill(&outbox, "a", "b", "c")
        let each = outbox.memoryBytes / 3
        let room = OutboxRoom(total: 10 * each, free: 0)
        let receipt = try outbox.append(
            [message("d"), message("e")],
            uplink: .away,
            room: room,
            now: Self.start
        )
        #expect(receipt.dropped.map(\.number) == [1, 2])
        #expect(drain(&outbox) == ["c", "d", "e"])
    }

    @Test func `what is larger than all memory for outboxes is too large for good`() throws {
        var outbox = outbox()
        try fill(&outbox, "a")
        let each = outbox.memoryBytes
        #expect(throws: OutboxError.tooLarge(limit: 9)) {
            let room = OutboxRoom(total: each + 8, free: each + 8)
            _ = try outbox.append([message("0123456789")], uplink: .away, room: room, now: Self.start)
        }
    }
}
