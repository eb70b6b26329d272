import BridgeCore
import Testing

@testable import BridgeIO

@MainActor @Suite(.serialized, .timeLimit(.minutes(1))) struct `A burst that is more than a feed may hold` {
    @Test(arguments: [StreamWay.detached, .suspended])
    func `reaches a reader whole whose socket takes it, whatever history forgets`(way: StreamWay) throws {
        let sent = (1...250).map { "\($0) " + String(repeating: "x", count: 1000) }
        let service = try TestService(history: HistoryLimits(maxMessages: 2), way: way)
        service.hub.memoryBound = 1 << 20
        let client = try service.client("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        // Feeds share what they may hold.
        let others = try ["a", "b"].map { topic in
            try service.client("GET /events?topic=\(topic) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        }
        var hasPublished = false
        let turns = BeforeWaiting(loop: service.loop) {
            guard !hasPublished, service.hub.subscriberCount == 3 else { return }
            hasPublished = true
            for text in sent { service.publish(text) }
            let limit = service.hub.feeds.bytesPerFeed
            #expect(limit < sent.count * 1000 / 2)
            #expect(service.hub.feeds.all.allSatisfy { $0.heldBytes <= limit })
            service.endTurn()
        }
        client.onChange = { if client.endsWith(message: sent[sent.count - 1]) { service.loop.stop() } }
        service.run()
        #expect(client.data == sent)
        withExtendedLifetime((turns, others)) {}
        service.stop()
    }
}
