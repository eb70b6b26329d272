import BridgeCore
import Testing
import WebSocketProtocol

@testable import BridgeIO

@MainActor @Suite(.serialized, .timeLimit(.minutes(1))) struct `A replay from disk` {
    /// More than memory has room for beside the disk: of so many, those up to the 952nd are on disk alone.
    private static let count: UInt64 = 3000

    /// Has a live client, whose feed has everything, so that readers of the same could be moved to where that begins.
    private func publishAll(of service: TestService) throws -> BeforeWaiting {
        let live = try service.client("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        var hasPublished = false
        let turns = BeforeWaiting(loop: service.loop) {
            guard !hasPublished, service.hub.subscriberCount == 1 else { return }
            hasPublished = true
            for number in 1...StoredReplay.count { service.publish("\(number)") }
            service.endTurn()
        }
        live.onChange = { if live.endsWith(message: "\(StoredReplay.count)") { service.loop.stop() } }
        service.run()
        return turns
    }

    @Test(arguments: ["", "&wait=5m"])
    func `that cannot be read is no poll without records`(wait: String) throws {
        let store = StoreDouble { _ in nil }
        let service = try TestService(store: store)
        let turns = try publishAll(of: service)
        let since = service.hub.log.id(1).text
        let poll = "GET /messages?since=\(since)\(wait) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let client = try service.client(poll)
        client.onChange = { if client.hasEnded || client.text.hasSuffix("}\n") { service.loop.stop() } }
        service.run()
        #expect(client.text.hasPrefix("HTTP/1.1 503 "))
        #expect(client.text.contains("urn:wsbridge:problem:storage-unavailable"))
        store.answer = { question in
            guard case .page(let request) = question else { return nil }
            return .page(StorePage(position: request.through))
        }
        let again = try service.client(poll)
        again.onChange = { if again.hasEnded || again.text.hasSuffix("}\n") { service.loop.stop() } }
        service.run()
        #expect(again.text.hasPrefix("HTTP/1.1 200 "))
        withExtendedLifetime(turns) {}
        service.stop()
    }

    @Test(arguments: StreamWay.allCases)
    func `counts what was trimmed under it, page by page, before the log was told`(way: StreamWay) throws {
        let store = StoreDouble { question in
            guard case .page(let request) = question else { return nil }
            // All but the newest ones there have just gone.
            guard request.after >= 900 else { return .page(StorePage(position: 900)) }
            var page = StorePage(position: request.through)
            page.records = (951...request.through).map { sequence in
                StoredRecord(
                    sequence: sequence,
                    connection: StoredConnectionID(number: 1),
                    ordinal: sequence - 1,
                    time: WallTime(millisecondsSince1970: 0),
                    kind: .receivedText,
                    topic: nil,
                    payload: Array("\(sequence)".utf8)
                )
            }
            return .page(page)
        }
        let service = try TestService(way: way, store: store)
        let turns = try publishAll(of: service)
        let since = service.hub.log.id(1).text
        let reader = try service.client(
            "GET /events?since=\(since) HTTP/\(way.version)\r\nHost: localhost\r\n\r\n"
        )
        reader.onChange = { if reader.endsWith(message: "\(StoredReplay.count)") { service.loop.stop() } }
        service.run()
        #expect(reader.text.contains(#""missed":949"#))
        #expect(reader.text.ranges(of: "event: gap").count == 1)
        #expect(reader.data.filter { !$0.hasPrefix("{") } == (951...StoredReplay.count).map { "\($0)" })
        withExtendedLifetime(turns) {}
        service.stop()
    }
}

private typealias StoredReplay = `A replay from disk`
