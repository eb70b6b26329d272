import BridgeCore
import Testing

@Suite struct PendingWishesTests {
    private static let disconnect = ConnectionMachine.Event.disconnectRequested(code: 1000, reason: "")

    @Test(
        arguments: [
            ([], []),
            ([.connectRequested], [.connectRequested]),
            ([.connectRequested, disconnect], [disconnect]),
            ([.pauseRequested, .resumeRequested], [.resumeRequested]),
            ([.pauseRequested, .reconnectRequested], [.reconnectRequested]),
            ([disconnect, .pauseRequested, .resumeRequested], [disconnect, .resumeRequested]),
            ([.connectRequested, .pauseRequested], [.connectRequested, .pauseRequested]),
        ] as [([ConnectionMachine.Event], [ConnectionMachine.Event])]
    )
    func `the last wish counts, and a pause beside it`(
        asked: [ConnectionMachine.Event],
        done: [ConnectionMachine.Event]
    ) {
        var wishes = PendingWishes()
        for event in asked { wishes.add(event) }
        #expect(wishes.take() == done)
        #expect(wishes.take() == [])
    }

    @Test func `a connection that is to be closed takes no messages`() {
        var wishes = PendingWishes()
        #expect(!wishes.shuts)
        wishes.add(PendingWishesTests.disconnect)
        wishes.add(.pauseRequested)
        #expect(wishes.shuts)
        wishes.add(.connectRequested)
        #expect(!wishes.shuts)
    }
}
