import BridgeCore
import Testing

@Suite struct `Reading the event log` {
    private let wide = HistoryLimits()

    private func keep(_ messages: Int) -> HistoryLimits {
        HistoryLimits(maxMessages: messages)
    }

    @Test func `a reader from now on gets what comes next, once`() {
        var fixture = LogFixture(wide)
        fixture.record(3)
        var cursor = fixture.log.cursor(at: .now, of: fixture.all)
        #expect(fixture.read(&cursor) == [])
        fixture.record(2)
        #expect(fixture.read(&cursor) == ["4", "5"])
        #expect(fixture.read(&cursor) == [])
    }

    @Test func `a reader goes on after an id, also one of a record it does not select`() {
        var fixture = LogFixture(wide, wide)
        for connection in [0, 1, 0, 1, 0] { fixture.record(on: connection) }
        #expect(fixture.read(.after(fixture.log.id(2)), fixture.only(0)) == ["3", "5"])
        #expect(fixture.read(.after(fixture.log.id(5)), fixture.only(0)) == [])
        #expect(fixture.read(.after(fixture.log.id(0)), fixture.only(0)) == ["1", "3", "5"])
    }

    @Test func `what was evicted after the id is announced where it stood`() {
        var fixture = LogFixture(keep(2))
        fixture.record(5)
        #expect(fixture.read(.after(fixture.log.id(1)), fixture.all) == ["gap 2 id 3 oldest 4", "4", "5"])
        #expect(fixture.read(.after(fixture.log.id(3)), fixture.all) == ["4", "5"])
    }

    @Test func `start is all that is kept, without a gap`() {
        var fixture = LogFixture(keep(2), wide)
        for connection in [1, 0, 0, 1, 0, 0, 1] { fixture.record(on: connection) }
        #expect(fixture.read(.start, fixture.only(0)) == ["5", "6"])
        #expect(fixture.read(.start, fixture.all) == ["1", "4", "5", "6", "7"])
    }

    @Test func `an id of the future gives a gap of unknown size, then all that is kept`() {
        var fixture = LogFixture(keep(2))
        fixture.record(3)
        let expected = ["gap ? id 1 oldest 2", "2", "3"]
        #expect(fixture.read(.after(fixture.log.id(4)), fixture.all) == expected)
        #expect(fixture.read(.after(fixture.log.id(.max)), fixture.all) == expected)
    }

    @Test func `an id of another epoch gives a gap of unknown size, then all that is kept`() throws {
        var fixture = LogFixture(wide)
        let foreign = try #require(EventID(text: "zzzzzzzzzzzz-1"))
        #expect(fixture.read(.after(foreign), fixture.all) == ["gap ? id 0 oldest none"])
        fixture.record(2)
        #expect(fixture.read(.after(foreign), fixture.all) == ["gap ? id 0 oldest 1", "1", "2"])
    }

    @Test func `the newest records that pass a filter are counted over all connections`() {
        var fixture = LogFixture(wide, wide)
        for connection in [0, 1, 0, 1, 0] { fixture.record(on: connection) }
        let all = StreamFilter(connections: fixture.all)
        #expect(fixture.readLast(2, all) == ["4", "5"])
        #expect(fixture.readLast(2, StreamFilter(connections: fixture.only(0))) == ["3", "5"])
        #expect(fixture.readLast(0, all) == [])
        #expect(fixture.readLast(9, all) == ["1", "2", "3", "4", "5"])
        fixture.log.append(
            .status(.ready),
            of: fixture.connections[1],
            at: WallTime(millisecondsSince1970: 6)
        )
        #expect(fixture.readLast(2, all) == ["4", "5", "6"])
    }

    @Test func `the newest records come without a gap though older ones are lost`() {
        var fixture = LogFixture(keep(2))
        fixture.record(4)
        #expect(fixture.readLast(5, StreamFilter(connections: fixture.all)) == ["3", "4"])
    }

    @Test func `since a time means not older than it`() {
        var fixture = LogFixture(wide, wide)
        for time in [10, 20, 20, 30] as [Int64] { fixture.record(on: Int(time) / 10 % 2, at: time) }
        func read(_ time: Int64) -> [String] {
            fixture.read(.since(WallTime(millisecondsSince1970: time)), fixture.all)
        }
        #expect(read(10) == ["1", "2", "3", "4"])
        #expect(read(11) == ["2", "3", "4"])
        #expect(read(20) == ["2", "3", "4"])
        #expect(read(31) == [])
    }

    @Test func `since a time before the newest lost record gives a gap of unknown size`() {
        var fixture = LogFixture(keep(2))
        fixture.record(4)
        func read(_ time: Int64) -> [String] {
            fixture.read(.since(WallTime(millisecondsSince1970: time)), fixture.all)
        }
        #expect(read(2) == ["gap ? id 2 oldest 3", "3", "4"])
        #expect(read(3) == ["3", "4"])
    }

    @Test func `pages are bounded by records and by bytes, and hold at least one record`() {
        var fixture = LogFixture(wide)
        for bytes in [5, 5, 100, 1, 1] { fixture.record(bytes: bytes) }
        var cursor = fixture.log.cursor(at: .start, of: fixture.all)
        func page(_ records: Int, _ bytes: Int) -> Int {
            fixture.log.read(&cursor, maxRecords: records, maxBytes: bytes).count
        }
        #expect(page(1, .max) == 1)
        #expect(page(9, 1) == 1)
        #expect(page(9, 100) == 1)
        #expect(page(0, 1) == 1)
        #expect(page(9, 9) == 1)
        #expect(page(9, 9) == 0)
    }

    @Test func `a reader that read everything of its own connections stands at the head`() {
        var fixture = LogFixture(wide, wide)
        var cursor = fixture.log.cursor(at: .now, of: fixture.only(0))
        fixture.record(3, on: 1)
        #expect(fixture.read(&cursor) == [])
        #expect(cursor.position == 3)
    }

    @Test func `losses in a merged stream are announced where they stood, each once`() {
        var fixture = LogFixture(keep(1), wide)
        for connection in [0, 1, 0, 0, 1, 0] { fixture.record(on: connection) }
        // Lost: 1, 3 and 4.
        let all = ["gap 1 id 1 oldest 2", "2", "gap 2 id 4 oldest 5", "5", "6"]
        #expect(fixture.read(.after(fixture.log.id(0)), fixture.all) == all)
        for (seen, rest) in [(1, 1), (2, 2), (4, 3), (5, 4), (6, 5)] {
            let again = fixture.read(.after(fixture.log.id(UInt64(seen))), fixture.all)
            #expect(again == Array(all[rest...]), "after \(seen)")
        }
        #expect(fixture.read(.after(fixture.log.id(3)), fixture.all) == ["gap 1 id 4 oldest 5", "5", "6"])
    }

    @Test func `losses of several connections that stood together make one gap`() {
        var fixture = LogFixture(keep(1), keep(1), wide)
        for connection in [0, 1, 0, 2, 1, 1, 0] { fixture.record(on: connection) }
        let all = ["gap 3 id 3 oldest 4", "4", "gap 1 id 5 oldest 6", "6", "7"]
        #expect(fixture.read(.after(fixture.log.id(0)), fixture.all) == all)
        fixture.record(2, on: 0)
        fixture.record(on: 1)
        let last = fixture.read(.after(fixture.log.id(4)), fixture.all)
        #expect(last == ["gap 4 id 8 oldest 9", "9", "10"])
    }

    @Test func `a reader that goes on with other connections is told what it lost of those it had`() {
        var fixture = LogFixture(wide, keep(2), keep(1))
        var cursor = fixture.log.cursor(at: .now, of: ConnectionSelection(fixture.connections[..<2]))
        for connection in [0, 1, 1, 1, 0, 2, 2] { fixture.record(on: connection) }
        let (gone, others) = (fixture.connections[1], [fixture.connections[0], fixture.connections[2]])
        fixture.log.reselect(&cursor, ConnectionSelection(others))
        fixture.log.remove(gone)
        #expect(fixture.read(&cursor) == ["gap 3 id 0 oldest 1", "1", "5", "gap 1 id 6 oldest 7", "7"])
        fixture.log.reselect(&cursor, fixture.all)
        #expect(fixture.read(&cursor) == [])
        fixture.record(on: 1)
        #expect(fixture.read(&cursor) == ["8"])
    }

    @Test func `what is lost while a reader pauses is counted exactly, however much it is`() {
        var fixture = LogFixture(keep(10), wide)
        var cursor = fixture.log.cursor(at: .now, of: fixture.only(0))
        for number in 0..<10_000 { fixture.record(on: number % 2) }
        let first = fixture.read(&cursor).first
        #expect(first == "gap 4990 id 9979 oldest 9981")
    }

    @Test func `long ago losses between other records are exact or said to be unknown`() {
        var fixture = LogFixture(keep(10), wide)
        for number in 0..<10_000 { fixture.record(on: number % 2) }
        func gap(after seen: Int) -> String? {
            fixture.read(.after(fixture.log.id(UInt64(seen))), fixture.only(0)).first
        }
        func exact(after seen: Int) -> String {
            "gap \(4990 - (seen + 1) / 2) id 9979 oldest 9981"
        }
        let unknown = "gap ? id 9979 oldest 9981"
        let ids = Array(0..<9979)
        let wrong = ids.first { gap(after: $0) != exact(after: $0) && gap(after: $0) != unknown }
        #expect(wrong == nil)
        #expect(gap(after: 0) == exact(after: 0))
        // The newest 512 runs are always remembered one by one.
        #expect(ids.suffix(1024).allSatisfy { gap(after: $0) == exact(after: $0) })
        #expect(gap(after: 5) == unknown)
    }

    @Test func `losses of a connection that is alone are exact from everywhere`() {
        var fixture = LogFixture(keep(10))
        fixture.record(10_000)
        let wrong = (0..<9990).first { seen in
            let gap = fixture.read(.after(fixture.log.id(UInt64(seen))), fixture.all).first
            return gap != "gap \(9990 - seen) id 9990 oldest 9991"
        }
        #expect(wrong == nil)
    }
}
