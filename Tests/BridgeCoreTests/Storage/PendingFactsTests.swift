import BridgeCore
import Testing

/// Which facts wait for company on their way to the store, and for how long.
struct PendingFactsTests {
    private let orders = StoredConnectionID(number: 1)
    private let trades = StoredConnectionID(number: 2)

    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    private func sent(_ milliseconds: Int64) -> MessageState {
        .sent(at: WallTime(millisecondsSince1970: milliseconds))
    }

    @Test func `ends that follow one another are one fact, and no others`() {
        var facts = PendingFacts()
        for number in 1...3 as ClosedRange<UInt64> {
            facts.append(endOf: number, of: orders, as: sent(1), at: at(1))
        }
        // Another time, number, connection and state each begin anew.
        facts.append(endOf: 4, of: orders, as: sent(2), at: at(2))
        facts.append(endOf: 6, of: orders, as: sent(2), at: at(2))
        facts.append(endOf: 7, of: trades, as: sent(2), at: at(2))
        facts.append(endOf: 8, of: trades, as: .expired, at: at(2))
        facts.append(.removed(trades))
        facts.append(endOf: 9, of: trades, as: .expired, at: at(2))
        #expect(
            facts.take() == [
                .ended(1..<4, of: orders, as: sent(1)), .ended(4..<5, of: orders, as: sent(2)),
                .ended(6..<7, of: orders, as: sent(2)), .ended(7..<8, of: trades, as: sent(2)),
                .ended(8..<9, of: trades, as: .expired), .removed(trades),
                .ended(9..<10, of: trades, as: .expired),
            ]
        )
        #expect(facts.isEmpty)
        #expect(facts.take() == [])
    }

    @Test func `ends wait for 5 ms from the first one, and all else goes at once`() {
        var facts = PendingFacts()
        #expect(facts.mayWait(at: at(1000)))
        facts.append(endOf: 1, of: orders, as: .expired, at: at(10))
        facts.append(endOf: 2, of: orders, as: .expired, at: at(14))
        #expect(facts.due == at(15))
        #expect(facts.mayWait(at: at(14)))
        #expect(!facts.mayWait(at: at(15)))
        #expect(facts.areEnds)
        facts.append(.removed(orders))
        #expect(!facts.mayWait(at: at(14)))
        #expect(!facts.areEnds)
        _ = facts.take()
        facts.append(endOf: 3, of: orders, as: .expired, at: at(30))
        #expect(facts.due == at(35))
        #expect(facts.mayWait(at: at(34)))
    }

    @Test func `not too many wait`() {
        var facts = PendingFacts()
        for number in 1...1023 as ClosedRange<UInt64> {
            facts.append(endOf: 2 * number, of: orders, as: .expired, at: at(0))
        }
        #expect(facts.mayWait(at: at(0)))
        facts.append(endOf: 1, of: orders, as: .expired, at: at(0))
        #expect(!facts.mayWait(at: at(0)))
    }
}
