import BridgeCore
import Testing

@testable import BridgeIO

@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct `Memory of streams` {
    /// Runs until this is so at the end of a turn.
    private func run(_ service: TestService, until holds: @escaping () -> Bool) {
        let turns = BeforeWaiting(loop: service.loop) {
            service.endTurn()
            if holds() { service.loop.stop() }
        }
        service.run()
        withExtendedLifetime(turns) {}
    }

    private func stalled(_ service: TestService, _ target: String) throws -> TestClient {
        let client = try service.client("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        client.onChange = { client.pause() }
        return client
    }

    @Test func `is counted once for those who share it, and given back`() throws {
        let total = MemoryTotal()
        var first: HeldBytes? = HeldBytes([UInt8](repeating: 0, count: 10_000), in: total)
        var second = first
        let counted = total.bytes
        #expect(10_000..<11_000 ~= counted)
        first = nil
        #expect(total.bytes == counted)
        #expect(second != nil)
        second = nil
        #expect(total.bytes == 0 && first == nil)
    }

    @Test(arguments: [StreamWay.detached, .suspended])
    func `of one record is theirs who share it, however large it is`(way: StreamWay) throws {
        let service = try TestService(way: way)
        service.hub.memoryBound = 8 << 20
        service.publish(String(repeating: "\n", count: 1 << 20))
        let clients = try (1...20).map { _ in try stalled(service, "/events?since=start&limit=1") }
        run(service) { service.hub.subscriberCount == clients.count }
        #expect(service.hub.pages.bytes > service.hub.memory.pageLimit)
        let last = try #require(clients.last)
        last.onChange = { if last.hasEnded { service.loop.stop() } }
        last.resume()
        service.run()
        #expect(last.isComplete)
        #expect(service.hub.subscriberCount == clients.count - 1)
        service.stop()
        #expect(service.hub.pages.bytes == 0)
    }

    @Test(arguments: [StreamWay.detached, .suspended])
    func `is taken from those who stood still for longest`(way: StreamWay) throws {
        let service = try TestService(way: way)
        service.hub.memoryBound = 8 << 20
        for number in 0..<6 { service.publish("\(number)" + String(repeating: "~", count: 900_000)) }
        // Each is at another record, for which it holds nearly half of what all may.
        var clients: [TestClient] = []
        for last in [6, 5, 4, 3, 2] {
            let client = try stalled(service, "/events?last=\(last)")
            clients.append(client)
            run(service) {
                !client.received.isEmpty
                    && service.hub.feeds.all.allSatisfy { $0.others.values.allSatisfy(\.isBlocked) }
            }
        }
        // Two records fit, or one and the newest, whose bytes do not count.
        #expect(2...3 ~= service.hub.subscriberCount)
        #expect(service.hub.pages.bytes < service.hub.memory.pageLimit + 1_000_000)
        let newest = try #require(clients.last)
        newest.onChange = { if newest.received.count > 1_800_000 { service.loop.stop() } }
        newest.resume()
        service.run()
        #expect(!newest.hasEnded)
        service.stop()
    }
}
