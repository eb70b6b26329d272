import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `Seeking the newest records` {
    /// Goes back piece by piece; returns how many pieces that were.
    private func goBack(_ fixture: LogFixture, _ cursor: inout LogCursor, bytes: Int) -> Int {
        var pieces = 1
        while true {
            var allowance = SearchAllowance(bytes: bytes)
            let filter = StreamFilter(connections: fixture.all)
            guard !fixture.log.goBack(&cursor, by: filter, &allowance) else { return pieces }
            pieces += 1
        }
    }

    @Test(arguments: [(1, 100), (64, 100), (65, 50), (640, 10), (6400, 1)])
    func `pauses where its allowance is spent, and goes on from there`(bytes: Int, pieces: Int) {
        var fixture = LogFixture(HistoryLimits())
        fixture.record(200)
        var cursor = fixture.log.cursor(at: .last(100), of: fixture.all)
        #expect(cursor.isSeeking)
        #expect(goBack(fixture, &cursor, bytes: bytes) == pieces)
        #expect(!cursor.isSeeking)
        #expect(fixture.read(&cursor) == (101...200).map { "\($0)" })
    }

    @Test func `costs what has to be looked through`() throws {
        var fixture = LogFixture(HistoryLimits())
        for _ in 0..<9 { fixture.record(bytes: 10_000) }
        let condition = try #require(ContentFilter.Condition("/a:1"))
        let filter = StreamFilter(connections: fixture.all, content: ContentFilter([condition]))
        var cursor = fixture.log.cursor(at: .last(1), of: fixture.all)
        var pieces = 1
        var allowance = SearchAllowance(bytes: 30_000)
        while !fixture.log.goBack(&cursor, by: filter, &allowance) {
            allowance = SearchAllowance(bytes: 30_000)
            pieces += 1
        }
        #expect(pieces == 3)
    }

    @Test func `takes in what comes meanwhile, and does not miss what goes`() {
        var fixture = LogFixture(HistoryLimits(maxMessages: 100))
        fixture.record(100)
        var cursor = fixture.log.cursor(at: .last(80), of: fixture.all)
        var allowance = SearchAllowance(bytes: 64 * 10)
        let filter = StreamFilter(connections: fixture.all)
        #expect(!fixture.log.goBack(&cursor, by: filter, &allowance))
        fixture.record(50)
        #expect(!fixture.log.hasOutrun(cursor))
        #expect(goBack(fixture, &cursor, bytes: .max) == 1)
        #expect(fixture.read(&cursor) == (51...150).map { "\($0)" })
    }

    @Test func `begins with what is left when all that it wanted is gone`() {
        var fixture = LogFixture(HistoryLimits(maxMessages: 5))
        fixture.record(5)
        var cursor = fixture.log.cursor(at: .last(3), of: fixture.all)
        fixture.record(9)
        #expect(goBack(fixture, &cursor, bytes: .max) == 1)
        #expect(!fixture.log.hasOutrun(cursor))
        #expect(fixture.read(&cursor) == (10...14).map { "\($0)" })
        fixture.record(6)
        #expect(fixture.read(&cursor).first == "gap 1 id 15 oldest 16")
    }
}
