import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol

private func request(_ query: String, version: String) -> String {
    "GET /v1/events\(query) HTTP/\(version)\r\nHost: localhost\r\n\r\n"
}

@MainActor @Suite(.serialized, .timeLimit(.minutes(2))) struct `Merged streams` {
    /// Runs steps, each once the client has got the text with which the one before ended.
    private func run(
        _ service: TestService,
        _ client: TestClient,
        toTheEnd: Bool = false,
        _ steps: [(last: String, () -> Void)]
    ) {
        var left = steps[...]
        var hasBegun = false
        func look() {
            guard hasBegun else { return }
            while let step = left.first, client.text.contains(step.last) {
                left = left.dropFirst()
                step.1()
            }
            if left.isEmpty, client.hasEnded || !toTheEnd { service.loop.stop() }
        }
        var turns: BeforeWaiting?
        turns = BeforeWaiting(loop: service.loop) {
            if service.hub.subscriberCount == 1 { hasBegun = true }
            look()
            service.endTurn()
        }
        client.onChange = look
        service.run()
        withExtendedLifetime(turns) {}
    }

    /// The second query is of one that reads the log on its own to the end.
    @Test(arguments: StreamWay.allCases, ["", "&limit=1000"])
    func `follow connections that come and go`(way: StreamWay, query: String) throws {
        let service = try TestService(history: HistoryLimits(maxMessages: 3), way: way)
        let client = try service.client(
            request("?types=text&format=raw&connection=*\(query)", version: way.version)
        )
        var new = service.other
        run(
            service,
            client,
            [
                ("", { service.publish("one") }),
                (
                    "one\n",
                    {
                        service.hub.append(.status(.paused), of: service.other)
                        guard let index = service.hub.register("new", limits: HistoryLimits()) else { return }
                        new = index
                        service.publish("two", of: new)
                        // Goes at once, with records that nobody asked for: that is no loss.
                        service.hub.append(.status(.ready), of: service.other)
                        service.hub.remove(service.other)
                        service.publish("three")
                    }
                ),
                (
                    "three\n",
                    {
                        service.publish("last words", of: new)
                        service.hub.append(.status(.paused), of: new)
                        service.hub.remove(new)
                        service.publish("four")
                    }
                ),
                (
                    "four\n",
                    {
                        _ = service.hub.register("new", limits: HistoryLimits())
                        _ = service.hub.register("other", limits: HistoryLimits())
                        service.publish("five", of: new)
                        service.publish("six", of: service.other)
                    }
                ), ("six\n", {}),
            ]
        )
        #expect(client.lines.suffix(7) == ["one", "two", "three", "last words", "four", "five", "six"])
        #expect(service.hub.gaps(of: service.connection) == 0)
        #expect(service.hub.subscriberCount(of: new) == 1)
        service.stop()
        #expect(service.hub.subscriberCount == 0)
    }

    @Test(arguments: StreamWay.allCases) func `show no connection that they do not name`(way: StreamWay)
        throws
    {
        let service = try TestService(way: way)
        let client = try service.client(request("?format=raw&connection=d*", version: way.version))
        run(
            service,
            client,
            [
                (
                    "\r\n\r\n",
                    {
                        for name in ["more", "dear"] {
                            guard let index = service.hub.register(name, limits: HistoryLimits()) else {
                                return
                            }
                            service.publish("of \(name)", of: index)
                        }
                    }
                ), ("of dear\n", {}),
            ]
        )
        #expect(!client.text.contains("of more"))
        service.stop()
    }

    @Test(arguments: StreamWay.allCases) func `end when their last connection goes`(way: StreamWay) throws {
        let service = try TestService(way: way)
        let client = try service.client(request("?format=raw&connection=*", version: way.version))
        run(
            service,
            client,
            toTheEnd: true,
            [
                (
                    "\r\n\r\n",
                    {
                        service.hub.remove(service.other)
                        service.publish("last")
                        service.hub.remove(service.connection)
                    }
                ), ("last\n", {}),
            ]
        )
        #expect(client.lines.last == "last")
        #expect(service.hub.subscriberCount == 0)
        service.stop()
    }

    @Test func `tell those who read slowly what they lost with a connection`() throws {
        let service = try TestService()
        let filling = String(repeating: "x", count: 100_000)
        for number in 1...100 { service.publish("\(number) \(filling)", of: service.other) }
        let client = try service.client(request("?since=start&format=ndjson&connection=*", version: "1.1"))
        run(
            service,
            client,
            [
                (
                    "",
                    {
                        service.hub.remove(service.other)
                        service.publish("end")
                    }
                ), ("\"end\"", {}),
            ]
        )
        let got = client.text.split(separator: filling, omittingEmptySubsequences: false).count - 1
        let missed = client.text.split(separator: "\"missed\":").last.flatMap { Int($0.prefix { $0 != "," }) }
        #expect(got > 0 && missed == 100 - got)
        service.stop()
    }
}

extension TestClient {
    fileprivate var lines: [String] { (body ?? "").split(separator: "\n").map(String.init) }
}
