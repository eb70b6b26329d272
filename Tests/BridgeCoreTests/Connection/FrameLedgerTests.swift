import BridgeCore
import Testing

@Suite struct FrameLedgerTests {
    private func written(_ ledger: inout FrameLedger, through frame: UInt64) -> [FrameLedger.Content] {
        var contents: [FrameLedger.Content] = []
        while let content = ledger.popWritten(through: frame) { contents.append(content) }
        return contents
    }

    @Test func `what was written comes out once, oldest first, up to that frame`() {
        let message = FrameLedger.Content.message(MessageID(outbox: .one, number: 1))
        var ledger = FrameLedger()
        ledger.sent(message, frame: 1)
        ledger.sent(.own(.heartbeat), frame: 2)
        ledger.sent(.own(.pong), frame: 4)
        let nothing = written(&ledger, through: 0)
        let both = written(&ledger, through: 2)
        let again = written(&ledger, through: 3)
        let last = written(&ledger, through: .max)
        #expect(nothing.isEmpty)
        #expect(both == [message, .own(.heartbeat)])
        #expect(again.isEmpty)
        #expect(last == [.own(.pong)])
    }
}
