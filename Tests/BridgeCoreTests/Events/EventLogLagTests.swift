import BridgeCore
import Testing

@Suite struct `The lag of a reader` {
    @Test func `is what its connections have that it did not read`() {
        var fixture = LogFixture(HistoryLimits(), HistoryLimits())
        fixture.record(3)
        fixture.record(5, on: 1)
        #expect(fixture.log.lag(of: fixture.log.cursor(at: .start, of: fixture.only(0))) == 3)
        #expect(fixture.log.lag(of: fixture.log.cursor(at: .now, of: fixture.only(0))) == 0)
        var cursor = fixture.log.cursor(at: .start, of: fixture.all)
        #expect(fixture.log.lag(of: cursor) == 8)
        _ = fixture.log.read(&cursor, maxRecords: 4, maxBytes: .max)
        #expect(fixture.log.lag(of: cursor) == 4)
        fixture.record()
        #expect(fixture.log.lag(of: cursor) == 5)
    }

    @Test func `counts what it lost until it is told`() {
        var fixture = LogFixture(HistoryLimits(maxMessages: 2))
        var cursor = fixture.log.cursor(at: .now, of: fixture.all)
        fixture.record(5)
        #expect(fixture.log.lag(of: cursor) == 5)
        #expect(fixture.log.hasOutrun(cursor))
        _ = fixture.log.read(&cursor, maxRecords: 1, maxBytes: .max)
        #expect(fixture.log.lag(of: cursor) == 1)
        #expect(!fixture.log.hasOutrun(cursor))
    }

    @Test func `has nothing to do with what was lost before it began`() {
        var fixture = LogFixture(HistoryLimits(maxMessages: 2))
        fixture.record(5)
        for start in [StartPosition.start, .after(fixture.log.id(1)), .last(9)] {
            #expect(!fixture.log.hasOutrun(fixture.log.cursor(at: start, of: fixture.all)))
        }
        let stranger = StartPosition.after(EventID(epoch: Epoch(bits: 1), sequence: 1))
        #expect(!fixture.log.hasOutrun(fixture.log.cursor(at: stranger, of: fixture.all)))
    }

    @Test func `has to do with all that was lost since it followed, once that is not forgiven`() {
        var fixture = LogFixture(HistoryLimits(maxMessages: 2))
        fixture.record(5)
        var cursor = fixture.log.cursor(following: 1, of: fixture.all)
        #expect(fixture.log.hasOutrun(cursor))
        fixture.log.forgive(&cursor)
        #expect(!fixture.log.hasOutrun(cursor))
        fixture.record()
        #expect(fixture.log.hasOutrun(cursor))
        #expect(fixture.read(&cursor) == ["gap 3 id 4 oldest 5", "5", "6"])
    }

    @Test func `is too much once one of several connections has forgotten something`() {
        var fixture = LogFixture(HistoryLimits(), HistoryLimits(maxMessages: 2))
        let cursor = fixture.log.cursor(at: .now, of: fixture.all)
        fixture.record(50)
        fixture.record(2, on: 1)
        #expect(!fixture.log.hasOutrun(cursor))
        fixture.record(on: 1)
        #expect(fixture.log.hasOutrun(cursor))
        #expect(!fixture.log.hasOutrun(fixture.log.cursor(at: .start, of: fixture.only(0))))
    }
}
