import BridgeCore
import Testing

@Suite struct `Idempotency ledger` {
    private let start = Instant(nanoseconds: 0)

    /// The answer for so many messages, of which one was sent in each of so many milliseconds.
    private func answer(_ count: UInt64 = 1, sentAt times: Int64 = 0) -> Consignment {
        var consignment = Consignment(MessageIDs(outbox: .one, numbers: 1..<count + 1))
        for time in 0..<times {
            let state = MessageState.sent(at: WallTime(millisecondsSince1970: time))
            consignment.ended(MessageID(outbox: .one, number: UInt64(time) + 1), as: state)
        }
        return consignment
    }

    @Test func `gives the first answer to a repeat`() {
        var ledger = IdempotencyLedger()
        #expect(ledger.find("k", fingerprint: [1], now: start) == .new)
        ledger.accepted("k", fingerprint: [1], now: start)
        #expect(ledger.find("k", fingerprint: [1], now: start) == .underWay)
        ledger.answered("k", with: answer())
        ledger.answered("k", with: answer(2))
        #expect(ledger.find("k", fingerprint: [1], now: start) == .answered(answer()))
    }

    @Test func `tells other messages from the first`() {
        var ledger = IdempotencyLedger()
        ledger.accepted("k", fingerprint: [1], now: start)
        #expect(ledger.find("k", fingerprint: [2], now: start) == .mismatch)
        ledger.answered("k", with: answer())
        #expect(ledger.find("k", fingerprint: [2], now: start) == .mismatch)
        #expect(ledger.find("K", fingerprint: [2], now: start) == .new)
    }

    @Test func `forgets nothing for a day, and everything after it`() {
        var ledger = IdempotencyLedger()
        ledger.accepted("a", fingerprint: [1], now: start)
        ledger.accepted("b", fingerprint: [1], now: start + .seconds(1))
        let day = start + .seconds(86_400)
        #expect(ledger.find("a", fingerprint: [1], now: day + .nanoseconds(-1)) == .underWay)
        #expect(ledger.find("a", fingerprint: [1], now: day) == .new)
        #expect(ledger.find("b", fingerprint: [1], now: day) == .underWay)
    }

    @Test func `knows nothing of a key whose messages were not accepted after all`() {
        var ledger = IdempotencyLedger(maxKeys: 2)
        ledger.accepted("a", fingerprint: [1], now: start)
        ledger.accepted("b", fingerprint: [1], now: start)
        ledger.withdrawn("a")
        #expect(ledger.find("a", fingerprint: [2], now: start) == .new)
        // It takes no room either.
        ledger.accepted("c", fingerprint: [1], now: start)
        #expect(ledger.find("b", fingerprint: [1], now: start) == .underWay)
    }

    @Test func `takes a key that was accepted as it was first`() {
        var ledger = IdempotencyLedger()
        ledger.accepted("k", fingerprint: [1], now: start)
        ledger.accepted("k", fingerprint: [2], now: start)
        #expect(ledger.find("k", fingerprint: [1], now: start) == .underWay)
    }

    @Test func `holds so many keys, the newest`() {
        var ledger = IdempotencyLedger(maxKeys: 3)
        for number in 1...5 { ledger.accepted("\(number)", fingerprint: [1], now: start) }
        let known = (1...5).filter { ledger.find("\($0)", fingerprint: [1], now: start) == .underWay }
        #expect(known == [3, 4, 5])
        ledger.answered("1", with: answer())
        #expect(ledger.find("1", fingerprint: [1], now: start) == .new)
    }

    @Test func `bounds how many different times its answers tell, the newest stay`() {
        var ledger = IdempotencyLedger(maxSize: 250)
        for number in 1...3 {
            ledger.accepted("\(number)", fingerprint: [1], now: start)
            ledger.answered("\(number)", with: answer(1000, sentAt: 99))
        }
        #expect(ledger.find("1", fingerprint: [1], now: start) == .new)
        #expect(ledger.find("2", fingerprint: [1], now: start) == .answered(answer(1000, sentAt: 99)))
        #expect(ledger.find("3", fingerprint: [1], now: start) == .answered(answer(1000, sentAt: 99)))
    }

    @Test(arguments: [(1, 1), (1000, 0), (1000, 100)] as [(UInt64, Int64)])
    func `holds 10,000 keys, whatever the size of their answers`(count: UInt64, times: Int64) {
        var ledger = IdempotencyLedger()
        let fingerprint = [UInt8](repeating: 1, count: 32)
        let answer = answer(count, sentAt: times)
        for number in 0...10_000 {
            ledger.accepted("\(number)", fingerprint: fingerprint, now: start)
            ledger.answered("\(number)", with: answer)
        }
        #expect(ledger.find("0", fingerprint: fingerprint, now: start) == .new)
        #expect(ledger.find("1", fingerprint: fingerprint, now: start) == .answered(answer))
        #expect(ledger.find("10000", fingerprint: fingerprint, now: start) == .answered(answer))
    }
}
