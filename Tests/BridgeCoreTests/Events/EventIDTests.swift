import BridgeCore
import Testing
import WebSocketTestSupport

@Suite struct `Event ids` {
    @Test(arguments: [
        ("000000000000-0", UInt64(0), UInt64(0)), ("00000000000z-1", 31, 1),
        ("zzzzzzzzzzzz-18446744073709551615", 1 << 60 - 1, .max), ("000000000010-10", 32, 10),
    ])
    func `an id is its epoch, a dash and its sequence`(text: String, bits: UInt64, sequence: UInt64) throws {
        let id = try #require(EventID(text: text))
        #expect(id.epoch.bits == bits)
        #expect(id.sequence == sequence)
        #expect(id.text == text)
    }

    @Test(arguments: [
        "", "-", "000000000000", "000000000000-", "-1", "00000000000-1", "0000000000000-1", "000000000000-01",
        "000000000000-00", "000000000000-+1", "000000000000--1", "000000000000-1 ", " 000000000000-1",
        "000000000000-18446744073709551616", "000000000000-99999999999999999999", "000000000000-1a",
        "000000000000-99999999999999999999999999999999999999999", "00000000000Z-1", "00000000000u-1",
        "00000000000é-1", "000000000000-１", "000000000000-1\n", "000000000000-1\0",
    ])
    func `other spellings are refused`(text: String) {
        #expect(EventID(text: text) == nil)
    }

    @Test func `random ids survive the way to text and back`() {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<2000 {
            let start = WallTime(millisecondsSince1970: Int64(bitPattern: random.next()))
            let epoch = Epoch(startedAt: start, random: &random)
            let id = EventID(
                epoch: epoch,
                sequence: random.next() >> UInt64.random(in: 0..<64, using: &random)
            )
            #expect(EventID(text: id.text) == id)
        }
    }

    @Test func `each start has its own epoch, and later ones sort later`() {
        var random = SeededGenerator(seed: 3)
        let epochs = (0..<1000).map { milliseconds in
            Epoch(
                startedAt: WallTime(millisecondsSince1970: 1_796_025_120_000 + milliseconds),
                random: &random
            )
        }
        #expect(epochs.map(\.text) == epochs.map(\.text).sorted())
        #expect(Set(epochs).count == epochs.count)
    }

    @Test func `two starts in one millisecond differ`() {
        var random = SeededGenerator(seed: 4)
        let start = WallTime(millisecondsSince1970: 5)
        #expect(Epoch(startedAt: start, random: &random) != Epoch(startedAt: start, random: &random))
    }

    @Test(arguments: [
        ("now", StartPosition.now), ("start", .start),
        ("1970-01-01T00:00:01Z", .since(.init(millisecondsSince1970: 1000))),
    ])
    func `a start position is read from text`(text: String, expected: StartPosition) {
        #expect(StartPosition(since: text) == expected)
    }

    @Test func `a start position may be an id`() throws {
        let id = try #require(EventID(text: "00000000000a-7"))
        #expect(StartPosition(since: "00000000000a-7") == .after(id))
    }

    @Test(arguments: ["", "Now", "10m", "00000000000a-07", "yesterday"])
    func `other start positions are left to the caller`(text: String) {
        #expect(StartPosition(since: text) == nil)
    }
}
