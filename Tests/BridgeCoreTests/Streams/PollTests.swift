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

    @Test func `read everything by limit and next`() throws {
        var fixture = LogFixture(HistoryLimits())
        fixture.record(25)
        var seen: [UInt64] = []
        var start = StartPosition.start
        for _ in 0..<3 {
            var poll = poll(fixture, limit: 10, start: start)
            let page = poll.read(fixture.log)
            #expect(page.gap == nil)
            seen += page.records.map(\.sequence)
            start = .after(page.next)
        }
        #expect(seen == Array(1...25))
        var last = poll(fixture, limit: 10, start: start)
        let page = last.read(fixture.log)
        #expect(page.isEmpty)
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
        let page = messages.read(fixture.log)
        #expect(page.records.map(\.sequence) == [1, 5, 9])
        #expect(page.next.sequence == 9)
        var none = poll(fixture, types: .binary)
        let empty = none.read(fixture.log)
        #expect(empty.isEmpty && empty.next == fixture.log.head)
    }

    @Test func `go on where they ended`() {
        var fixture = LogFixture(HistoryLimits())
        var waiting = poll(fixture, start: .now)
        #expect(waiting.read(fixture.log).isEmpty)
        fixture.record(2)
        #expect(waiting.read(fixture.log).records.map(\.sequence) == [1, 2])
        #expect(waiting.read(fixture.log).isEmpty)
    }

    @Test func `tell what was lost before the first record`() throws {
        var fixture = LogFixture(HistoryLimits(maxMessages: 2))
        fixture.record(5)
        var late = poll(fixture, start: .after(fixture.log.id(1)))
        let page = late.read(fixture.log)
        #expect(page.gap == Gap(missed: 2, id: fixture.log.id(3), oldest: fixture.log.id(4)))
        #expect(page.records.map(\.sequence) == [4, 5])
        var stranger = poll(fixture, start: .after(EventID(epoch: Epoch(bits: 1), sequence: 1)))
        let all = stranger.read(fixture.log)
        #expect(all.gap?.missed == nil && all.gap != nil)
        #expect(all.records.map(\.sequence) == [4, 5])
    }

    @Test func `end early when the payloads are large, but answer one record at least`() {
        var fixture = LogFixture(HistoryLimits())
        for _ in 0..<4 { fixture.record(bytes: 3 << 20) }
        fixture.record(bytes: 9 << 20)
        var poll = poll(fixture)
        #expect(poll.read(fixture.log).records.map(\.sequence) == [1, 2])
        #expect(poll.read(fixture.log).records.map(\.sequence) == [3, 4])
        #expect(poll.read(fixture.log).records.map(\.sequence) == [5])
    }

    @Test func `are answered as JSON`() {
        var fixture = LogFixture(HistoryLimits(maxMessages: 1))
        fixture.record(2)
        var poll = poll(fixture, start: .after(fixture.log.id(0)))
        let page = poll.read(fixture.log)
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
        let page = poll.read(fixture.log)
        var json = JSONWriter()
        json.object { page.writeMembers(to: &$0, log: fixture.log) }
        let next = fixture.log.head.text
        #expect(
            String(decoding: json.bytes, as: UTF8.self) == #"{"messages":[],"next":"\#(next)","gap":null}"#
        )
    }
}
