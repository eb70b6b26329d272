import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol

private func request(_ query: String, version: String = "1.1") -> String {
    "GET /messages\(query) HTTP/\(version)\r\nHost: localhost\r\n\r\n"
}

@MainActor @Suite(.serialized, .timeLimit(.minutes(1))) struct `Waiting polls` {
    /// Runs until the client has an answer with a whole body.
    private func answer(_ service: TestService, _ client: TestClient, once: @escaping () -> Void = {})
        -> String
    {
        var turns: BeforeWaiting?
        var hasWaited = false
        turns = BeforeWaiting(loop: service.loop) {
            guard service.hub.readerCount == 1, !hasWaited else { return }
            hasWaited = true
            once()
            service.endTurn()
        }
        client.onChange = { if client.hasEnded || client.text.hasSuffix("}\n") { service.loop.stop() } }
        service.run()
        withExtendedLifetime(turns) {}
        return client.body ?? ""
    }

    @Test(arguments: ["1.1", "1.0"]) func `are answered when something comes`(version: String) throws {
        let service = try TestService()
        let client = try service.client(request("?wait=5m&types=text", version: version))
        let body = answer(service, client) {
            service.hub.append(.message(Message(.binary, [])), of: service.connection)
            service.publish("elsewhere", of: service.other)
            service.publish("one")
            service.publish("two")
        }
        #expect(body.contains(#""data":"one"}"#) && body.contains(#""data":"two"}],"next":"#))
        #expect(!body.contains("elsewhere") && !body.contains("binary"))
        #expect(service.hub.readerCount == 0)
        service.stop()
    }

    @Test func `are answered with nothing at their limit`() throws {
        let service = try TestService()
        let client = try service.client(request("?wait=20ms"))
        let next = service.hub.log.head.text
        #expect(answer(service, client) == #"{"messages":[],"next":"\#(next)","gap":null}"# + "\n")
        #expect(service.hub.readerCount == 0)
        service.stop()
    }

    @Test func `of one filter are all answered`() throws {
        let service = try TestService()
        let clients = try (0..<20).map { try service.client(request("?wait=5m&limit=\($0 + 1)")) }
        for client in clients {
            client.onChange = {
                if clients.allSatisfy({ $0.text.hasSuffix("}\n") }) { service.loop.stop() }
            }
        }
        var turns: BeforeWaiting?
        turns = BeforeWaiting(loop: service.loop) {
            guard service.hub.readerCount == 20 else { return }
            service.publish("one")
            service.endTurn()
        }
        service.run()
        #expect(clients.allSatisfy { $0.text.contains(#""data":"one""#) })
        withExtendedLifetime(turns) {}
        service.stop()
    }

    @Test func `whose clients left are forgotten`() throws {
        let service = try TestService()
        let client = try service.client(request("?wait=5m"))
        var turns: BeforeWaiting?
        var hasWaited = false
        turns = BeforeWaiting(loop: service.loop) {
            if service.hub.readerCount == 1 {
                hasWaited = true
                client.leave()
            } else if hasWaited {
                service.loop.stop()
            }
        }
        service.run()
        #expect(service.hub.readerCount == 0)
        withExtendedLifetime(turns) {}
        service.stop()
    }

    @Test func `count their filters with those of streams`() throws {
        var settings = HTTPSettings()
        settings.maxFilters = 1
        let service = try TestService(settings)
        let texts = StreamFilter(connections: ConnectionSelection(service.connection), types: .text)
        let others = StreamFilter(connections: ConnectionSelection(service.other), types: .text)
        let binaries = StreamFilter(connections: texts.connections, types: .binary)
        let client = try service.client(request("?wait=5m&types=text"))
        _ = answer(service, client) {
            let hub = service.hub
            #expect(hub.hasRoom(forPollsOf: texts) && hub.hasRoom(forPollsOf: others))
            #expect(!hub.hasRoom(forPollsOf: binaries) && !hub.hasRoom(for: StreamShape(filter: binaries)))
            service.publish("one")
        }
        #expect(service.hub.hasRoom(forPollsOf: binaries))
        service.stop()
    }

    @Test func `wait on when what came is not for them`() throws {
        let service = try TestService()
        let client = try service.client(request("?wait=5m&types=text"))
        var rounds = 0
        var turns: BeforeWaiting?
        turns = BeforeWaiting(loop: service.loop) {
            guard service.hub.readerCount == 1 else { return }
            rounds += 1
            guard rounds < 3 else { return service.loop.stop() }
            service.hub.append(.message(Message(.binary, [])), of: service.connection)
            service.endTurn()
        }
        service.run()
        #expect(rounds == 3)
        withExtendedLifetime((turns, client)) {}
        service.stop()
    }

    @Test func `are answered at the end of the bridge`() throws {
        let service = try TestService()
        let client = try service.client(request("?wait=5m"))
        #expect(answer(service, client) { service.hub.endAll() }.hasPrefix(#"{"messages":[],"#))
        service.stop()
    }
}
