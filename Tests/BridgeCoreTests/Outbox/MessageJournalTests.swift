import BridgeCore
import Testing
import WebSocketTestSupport

@Suite struct `Message journal` {
    private let time = WallTime(millisecondsSince1970: 1000)
    private let later = WallTime(millisecondsSince1970: 2000)

    @Test(arguments: [MessageState.expired, .dropped, .sent(at: WallTime(millisecondsSince1970: 2000))])
    func `knows when a message was queued and how it ended`(end: MessageState) {
        var journal = MessageJournal()
        journal.queued(7, at: time)
        #expect(journal[7]?.state == .queued)
        journal.ended(7, as: end)
        #expect(journal[7]?.state == end)
        #expect(journal[7]?.queuedAt == time)
    }

    @Test func `keeps the first end of a message`() {
        var journal = MessageJournal()
        journal.queued(1, at: time)
        journal.ended(1, as: .expired)
        journal.ended(1, as: .sent(at: later))
        #expect(journal[1]?.state == .expired)
    }

    @Test func `knows nothing of a message that was never queued`() {
        var journal = MessageJournal()
        let ends = [journal.ended(1, as: .dropped), journal.ended(1, as: .dropped)]
        #expect(journal[1] == nil)
        journal.queued(2, at: time)
        let others = [journal.ended(2, as: .dropped), journal.ended(2, as: .dropped)]
        // Whoever waits for the end of one is told of it once.
        #expect((ends, others) == ([false, false], [true, false]))
    }

    @Test func `forgets messages that were not accepted after all, and no others`() {
        var journal = MessageJournal()
        for number in 1...6 as ClosedRange<UInt64> { journal.queued(number, at: time) }
        journal.ended(4, as: .dropped)
        journal.withdrawn(3..<6)
        #expect([1, 2, 6].allSatisfy { journal[$0]?.state == .queued })
        #expect(journal[3] == nil)
        #expect(journal[5] == nil)
        #expect(journal[4]?.state == .dropped)
        journal.queued(7, at: later)
        journal.ended(7, as: .expired)
        #expect(journal[7]?.state == .expired)
    }

    @Test func `forgets the oldest ends, and never what is queued`() {
        var journal = MessageJournal(limit: 3)
        for number in 1...10 as ClosedRange<UInt64> { journal.queued(number, at: time) }
        for number in [5, 4, 3, 2] as [UInt64] { journal.ended(number, as: .dropped) }
        #expect(journal[5] == nil)
        #expect([4, 3, 2].allSatisfy { journal[$0]?.state == .dropped })
        #expect([1, 6, 10].allSatisfy { journal[$0]?.state == .queued })
    }

    @Test func `forgets ends that were late as it forgets others`() {
        var journal = MessageJournal(limit: 3)
        for number in 1...10 as ClosedRange<UInt64> { journal.queued(number, at: time) }
        // 9 is the latest, and forgotten before 2 and 8, which come behind it.
        for number in [9, 2, 8, 10] as [UInt64] { journal.ended(number, as: .dropped) }
        #expect(journal[9] == nil)
        #expect([2, 8, 10].allSatisfy { journal[$0]?.state == .dropped })
        journal.ended(1, as: .expired)
        #expect(journal[2] == nil)
        #expect(journal[1]?.state == .expired)
        for number in [3, 4, 5] as [UInt64] { journal.ended(number, as: .dropped) }
        #expect([1, 2, 8, 9, 10].allSatisfy { journal[$0] == nil })
        #expect([3, 4, 5].allSatisfy { journal[$0]?.state == .dropped })
    }

    @Test func `keeps the newest 10,000 ends`() {
        var journal = MessageJournal()
        for number in 1...10_001 as ClosedRange<UInt64> {
            journal.queued(number, at: time)
            journal.ended(number, as: .dropped)
        }
        #expect(journal[1] == nil)
        #expect(journal[2] != nil)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `knows all that wait and the newest ends, in whatever order they come`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var journal = MessageJournal(limit: 50)
        var waiting: [UInt64] = []
        var ends: [(number: UInt64, state: MessageState)] = []
        // Some end in turn, some out of it, and some batches wait for long.
        let order = Double.random(in: 0...1, using: &random)
        for number in 1...1000 as ClosedRange<UInt64> {
            journal.queued(number, at: WallTime(millisecondsSince1970: Int64(number)))
            waiting.append(number)
            guard number % 200 > 100 else { continue }
            for _ in 0..<Int.random(in: 0...3, using: &random) where !waiting.isEmpty {
                let isInTurn = Double.random(in: 0...1, using: &random) < order
                let place = isInTurn ? 0 : Int.random(in: waiting.indices, using: &random)
                let state: MessageState = isInTurn ? .sent(at: time) : .dropped
                ends.append((waiting.remove(at: place), state))
                journal.ended(ends[ends.count - 1].number, as: state)
            }
            let known = ends.suffix(50)
            #expect(waiting.allSatisfy { journal[$0]?.state == .queued })
            #expect(known.allSatisfy { journal[$0.number]?.state == $0.state })
            #expect(
                known.allSatisfy { journal[$0.number]?.queuedAt.millisecondsSince1970 == Int64($0.number) }
            )
            #expect(ends.dropLast(50).allSatisfy { journal[$0.number] == nil })
        }
    }
}
