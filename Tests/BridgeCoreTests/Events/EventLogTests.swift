import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `Event log` {
    private let wide = HistoryLimits()

    private func limit(messages: Int = 10_000, bytes: Int = 1 << 20, age: Duration? = nil) -> HistoryLimits {
        HistoryLimits(maxMessages: messages, maxBytes: bytes, maxAge: age)
    }

    @Test func `the defaults are those of the contract`() {
        #expect(wide == HistoryLimits(maxMessages: 10_000, maxBytes: 67_108_864, maxAge: nil))
    }

    @Test func `one sequence counts the records of all connections from 1`() {
        var fixture = LogFixture(wide, wide)
        #expect(fixture.log.head.sequence == 0)
        fixture.record(on: 0)
        fixture.record(on: 1)
        fixture.record(on: 0)
        #expect(fixture.log.head.sequence == 3)
        #expect(fixture.read(.start, fixture.all) == ["1", "2", "3"])
        #expect(fixture.read(.start, fixture.only(0)) == ["1", "3"])
        #expect(fixture.read(.start, fixture.only(1)) == ["2"])
    }

    @Test func `names come and go for ever`() {
        var fixture = LogFixture(wide)
        var indices: Set<ConnectionIndex> = []
        for number in 0..<70_000 {
            guard let index = fixture.log.register("n\(number)", limits: wide) else {
                Issue.record("no room for name \(number)")
                return
            }
            indices.insert(index)
            fixture.log.append(.status(.ready), of: index, at: WallTime(millisecondsSince1970: 1))
            fixture.log.remove(index)
        }
        #expect(indices.count <= 2048)
        #expect(fixture.log.connections { _ in true } == [fixture.connections[0]])
    }

    @Test func `who comes back to a name that is not remembered may have lost something`() {
        var fixture = LogFixture(wide)
        guard let first = fixture.log.register("a", limits: wide) else { return }
        fixture.log.append(.status(.ready), of: first, at: WallTime(millisecondsSince1970: 1))
        let seen = fixture.log.id(0)
        fixture.log.remove(first)
        for number in 0..<2100 {
            if let index = fixture.log.register("n\(number)", limits: wide) { fixture.log.remove(index) }
        }
        guard let again = fixture.log.register("a", limits: wide).map({ ConnectionSelection($0) }) else {
            return
        }
        #expect(again != ConnectionSelection(first))
        #expect(fixture.read(.after(seen), again) == ["gap ? id 1 oldest none"])
        // What is new since then was never lost.
        #expect(fixture.read(.now, again) == [])
        #expect(fixture.read(.start, again) == [])
        #expect(fixture.read(.after(fixture.log.head), again) == [])
    }

    @Test func `append gives the record back even where nothing is kept`() {
        var fixture = LogFixture(limit(messages: 0))
        let record = fixture.log.append(
            .status(.ready),
            of: fixture.connections[0],
            at: WallTime(millisecondsSince1970: 9)
        )
        #expect(record.sequence == 1)
        #expect(record.payload == .status(.ready))
        #expect(fixture.log.status(of: fixture.connections[0]).messages == 0)
    }

    @Test func `the oldest go when there are too many`() {
        var fixture = LogFixture(limit(messages: 3))
        fixture.record(5)
        #expect(fixture.read(.start, fixture.all) == ["3", "4", "5"])
    }

    @Test func `the oldest go when they have too many bytes`() {
        var fixture = LogFixture(limit(bytes: 10))
        for bytes in [4, 4, 4, 1] { fixture.record(bytes: bytes) }
        #expect(fixture.read(.start, fixture.all) == ["2", "3", "4"])
        #expect(fixture.log.status(of: fixture.connections[0]).bytes == 9)
    }

    @Test func `a record larger than the history is not kept, and announced`() {
        var fixture = LogFixture(limit(bytes: 10))
        fixture.record(bytes: 3)
        var cursor = fixture.log.cursor(at: .now, of: fixture.all)
        fixture.record(bytes: 11)
        #expect(fixture.read(&cursor) == ["gap 1 id 2 oldest none"])
    }

    @Test func `records go when they are too old`() {
        var fixture = LogFixture(limit(age: .milliseconds(100)))
        for time in [0, 50, 100, 101] as [Int64] { fixture.record(at: time) }
        #expect(fixture.read(.start, fixture.all) == ["2", "3", "4"])
        fixture.log.expire(at: WallTime(millisecondsSince1970: 201))
        #expect(fixture.read(.start, fixture.all) == ["4"])
        fixture.log.expire(at: WallTime(millisecondsSince1970: 202))
        #expect(fixture.read(.start, fixture.all) == [])
    }

    @Test func `a lifecycle event is a record like others`() {
        var fixture = LogFixture(limit(messages: 2))
        fixture.record()
        for event in [Lifecycle.connecting, .closed(code: 1000, reason: "bye", clean: true, by: .user)] {
            fixture.log.append(
                .status(event),
                of: fixture.connections[0],
                at: WallTime(millisecondsSince1970: 0)
            )
        }
        let status = fixture.log.status(of: fixture.connections[0])
        #expect(status.messages == 2)
        #expect(status.bytes == 3)
        #expect(status.oldest == fixture.log.id(2))
        #expect(status.newest == fixture.log.id(3))
    }

    @Test func `an empty history has no ids`() {
        let fixture = LogFixture(wide)
        let status = fixture.log.status(of: fixture.connections[0])
        #expect(status == HistoryStatus(messages: 0, bytes: 0, oldest: nil, newest: nil))
    }

    @Test func `the status of a history is written as in the contract`() {
        var fixture = LogFixture(limit(messages: 2))
        fixture.record(3)
        var json = JSONWriter()
        let (status, log) = (fixture.log.status(of: fixture.connections[0]), fixture.log)
        json.object { status.writeMembers(to: &$0) }
        let ids = #""oldest":"\#(log.id(2).text)","newest":"\#(log.id(3).text)""#
        #expect(String(decoding: json.bytes, as: UTF8.self) == #"{"messages":2,"bytes":2,\#(ids)}"#)
    }

    @Test func `narrower limits evict at once`() {
        var fixture = LogFixture(wide)
        fixture.record(5)
        #expect(fixture.log.register("c0", limits: limit(messages: 2)) == fixture.connections[0])
        #expect(fixture.read(.start, fixture.all) == ["4", "5"])
    }

    @Test func `a connection is found by its name and named by its index`() {
        let fixture = LogFixture(wide, wide)
        #expect(fixture.log.index(of: "c1") == fixture.connections[1])
        #expect(fixture.log.name(of: fixture.connections[1]) == "c1")
        #expect(fixture.log.index(of: "c2") == nil)
    }

    @Test func `a removed connection's readers get a gap, also after its name came back`() {
        var fixture = LogFixture(wide, wide)
        fixture.record(3, on: 0)
        fixture.record(2, on: 1)
        var cursor = fixture.log.cursor(at: .after(fixture.log.id(1)), of: fixture.only(0))
        fixture.log.remove(fixture.connections[0])
        #expect(fixture.log.index(of: "c0") == nil)
        #expect(fixture.log.register("c0", limits: wide) == fixture.connections[0])
        fixture.record(on: 0)
        #expect(fixture.read(&cursor) == ["gap 2 id 3 oldest 6", "6"])
        #expect(fixture.read(.after(fixture.log.id(0)), fixture.only(0)) == ["gap 3 id 3 oldest 6", "6"])
        #expect(fixture.read(.start, fixture.all) == ["4", "5", "6"])
    }

    @Test func `names are bounded`() {
        var fixture = LogFixture()
        let indices = Set((0..<65_536).map { fixture.log.register("n\($0)", limits: wide) })
        #expect(indices.count == 65_536 && !indices.contains(nil))
        #expect(fixture.log.register("one more", limits: wide) == nil)
        #expect(fixture.log.register("n7", limits: wide) != nil)
    }
}
