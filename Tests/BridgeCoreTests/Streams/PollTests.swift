import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct Polls {
    private func poll(
        _ fixture: LogFixture,
        limit: Int = 100,
        start: StartPosition = .start,
        types: RecordTypes = .messages
    ) -> Poll {
        let filter = StreamFilter(connections: fixture.only(0), types: types)
        return Poll(filter, limit: limit, start: start, in: fixture.log)
    }

    private func read(_ poll: inout Poll, _ fixture: LogFixture) -> PollPage {
        var allowance = SearchAllowance(bytes: .max)
        #expect(poll.read(fixture.log, &allowance) == .through)
        return poll.page(fixture.log)
    }

    private func isEmpty(_ page: PollPage) -> Bool { page.records.isEmpty && page.gap == nil }

    @Test func `read everything by limit and next`() throws {
        var fixture = LogFixture(HistoryLimits())
        fixture.record(25)
        var seen: [UInt64] = []
        var start = StartPosition.start
        for _ in 0..<3 {
            var poll = poll(fixture, limit: 10, start: start)
            let page = read(&poll, fixture)
            #expect(page.gap == nil)
            seen += page.records.map(\.sequence)
            start = .after(page.next)
        }
        #expect(seen == Array(1...25))
        var last = poll(fixture, limit: 10, start: start)
        let page = read(&last, fixture)
        #expect(isEmpty(page))
        #expect(page.next == fixture.log.head)
    }

    @Test func `go beyond what the filter keeps back`() {
        var fixture = LogFixture(HistoryLimits(), HistoryLimits())
        for number in 0..<9 {
            fixture.record(on: number % 2)
            fixture.log.append(
                .status(.ready),
                of: fixture.connections[0],
                at: WallTime(millisecondsSince1970: 0)
            )
        }
        var messages = poll(fixture, limit: 3)
        let page = read(&messages, fixture)
        #expect(page.records.map(\.sequence) == [1, 5, 9])
        #expect(page.next.sequence == 9)
        var none = poll(fixture, types: .binary)
        let empty = read(&none, fixture)
        #expect(isEmpty(empty) && empty.next == fixture.log.head)
    }

    @Test func `go on where they ended`() {
        var fixture = LogFixture(HistoryLimits())
        var waiting = poll(fixture, start: .now)
        #expect(isEmpty(read(&waiting, fixture)))
        fixture.record(2)
        #expect(read(&waiting, fixture).records.map(\.sequence) == [1, 2])
        #expect(isEmpty(read(&waiting, fixture)))
    }

    @Test func `end behind what there was, though more comes all the time`() {
        var fixture = LogFixture(HistoryLimits())
        fixture.record(300)
        var poll = poll(fixture, types: .binary)
        var turns = 0
        while turns < 300 {
            var allowance = SearchAllowance(bytes: 1)
            if poll.read(fixture.log, &allowance) == .through { break }
            fixture.record(400)
            turns += 1
        }
        #expect(turns == 2)
        #expect(poll.page(fixture.log).next.sequence >= 300)
    }

    @Test func `pass over what is known not to be for them`() {
        var fixture = LogFixture(HistoryLimits(maxMessages: 10))
        var waiting = poll(fixture, start: .now)
        #expect(isEmpty(read(&waiting, fixture)))
        fixture.record(50)
        waiting.skip(to: 49, in: fixture.log)
        let page = read(&waiting, fixture)
        #expect(page.gap == nil)
        #expect(page.records.map(\.sequence) == [49, 50])
    }

    @Test func `tell what was lost before the first record`() throws {
        var fixture = LogFixture(HistoryLimits(maxMessages: 2))
        fixture.record(5)
        var late = poll(fixture, start: .after(fixture.log.id(1)))
        let page = read(&late, fixture)
        #expect(page.gap == Gap(missed: 2, id: fixture.log.id(3), oldest: fixture.log.id(4)))
        #expect(page.records.map(\.sequence) == [4, 5])
        var stranger = poll(fixture, start: .after(EventID(epoch: Epoch(bits: 1), sequence: 1)))
        let all = read(&stranger, fixture)
        #expect(all.gap?.missed == nil && all.gap != nil)
        #expect(all.records.map(\.sequence) == [4, 5])
    }

    @Test func `end early when the payloads are large, but answer one record at least`() {
        var fixture = LogFixture(HistoryLimits())
        for _ in 0..<4 { fixture.record(bytes: 3 << 20) }
        fixture.record(bytes: 9 << 20)
        var poll = poll(fixture)
        #expect(read(&poll, fixture).records.map(\.sequence) == [1, 2])
        #expect(read(&poll, fixture).records.map(\.sequence) == [3, 4])
        #expect(read(&poll, fixture).records.map(\.sequence) == [5])
    }

    @Test func `are answered as JSON`() {
        var fixture = LogFixture(HistoryLimits(maxMessages: 1))
        fixture.record(2)
        var poll = poll(fixture, start: .after(fixture.log.id(0)))
        let page = read(&poll, fixture)
        var json = JSONWriter()
        json.object { page.writeMembers(to: &$0, log: fixture.log) }
        let epoch = fixture.log.epoch.text
        #expect(
            String(decoding: json.bytes, as: UTF8.self) == """
                {"messages":[{"id":"\(epoch)-2","connection":"c0","time":"1970-01-01T00:00:00.002Z",\
                "direction":"in","type":"text","topic":"messages","data":"x"}],"next":"\(epoch)-2",\
                "gap":{"missed":1,"oldest":"\(epoch)-2"}}
                """
        )
    }

    @Test func `without anything are answered as JSON too`() {
        let fixture = LogFixture(HistoryLimits())
        var poll = poll(fixture)
        let page = read(&poll, fixture)
        var json = JSONWriter()
        json.object { page.writeMembers(to: &$0, log: fixture.log) }
        let next = fixture.log.head.text
        #expect(
            String(decoding: json.bytes, as: UTF8.self) == #"{"messages":[],"next":"\#(next)","gap":null}"#
        )
    }

    @Test func `pause where their allowance is spent, and lose nothing`() {
        var fixture = LogFixture(HistoryLimits(maxMessages: 4000))
        for number in 0..<4000 {
            if number % 1000 == 999 { fixture.record() }
            fixture.log.append(
                .status(.ready),
                of: fixture.connections[0],
                at: WallTime(millisecondsSince1970: 0)
            )
        }
        var poll = poll(fixture)
        var pieces = 1
        while true {
            var allowance = SearchAllowance(bytes: 64 * 256)
            guard poll.read(fixture.log, &allowance) == .spent else { break }
            pieces += 1
        }
        #expect(pieces > 9)
        #expect(poll.hasFound)
        let page = poll.page(fixture.log)
        #expect(page.records.map(\.sequence) == [1000, 2001, 3002, 4003])
        #expect(page.next == fixture.log.head && page.gap == nil)
        #expect(!poll.hasFound)
    }

    @Test func `end before what is lost while they look on`() {
        var fixture = LogFixture(HistoryLimits(maxMessages: 1000))
        fixture.record()
        for _ in 1..<1000 {
            fixture.log.append(
                .status(.ready),
                of: fixture.connections[0],
                at: WallTime(millisecondsSince1970: 0)
            )
        }
        var poll = poll(fixture)
        var allowance = SearchAllowance(bytes: 64 * 100)
        #expect(poll.read(fixture.log, &allowance) == .spent)
        fixture.record(500)
        let first = read(&poll, fixture)
        #expect(first.records.map(\.sequence) == [1] && first.gap == nil)
        #expect(first.next.sequence == 199)
        var next = self.poll(fixture, start: .after(first.next))
        let second = read(&next, fixture)
        #expect(second.gap?.missed == 301)
        #expect(second.records.map(\.sequence) == Array(1001...1100))
    }
}
