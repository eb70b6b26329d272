import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol

private func request(_ target: String, version: String = "1.1") -> String {
    "GET \(target) HTTP/\(version)\r\nHost: localhost\r\n\r\n"
}

@MainActor @Suite(.serialized, .timeLimit(.minutes(1))) struct `Delivery of formats` {
    private func body(_ target: String, way: StreamWay, publish: (TestService) -> Void) throws -> String {
        let service = try TestService(way: way)
        publish(service)
        let client = try service.client(request(target, version: way.version))
        client.onChange = { if client.hasEnded { service.loop.stop() } }
        service.run()
        let text = try #require(client.body)
        service.stop()
        return text
    }

    @Test(arguments: StreamWay.allCases) func `raw is the payloads alone`(way: StreamWay) throws {
        let text = try body("/events?format=raw&since=start&limit=2", way: way) { service in
            service.publish("one\r\ntwo")
            service.hub.append(.status(.ready), of: service.connection)
            service.hub.append(.message(Message(.binary, [1, 2, 3])), of: service.connection)
        }
        #expect(text == "one\r\ntwo\nAQID\n")
    }

    @Test(arguments: StreamWay.allCases) func `lines of JSON are one a record`(way: StreamWay) throws {
        let text = try body(
            "/events?format=ndjson&types=text,status&since=start&limit=2",
            way: way
        ) { service in
            service.publish("one\n")
            service.hub.append(.status(.ready), of: service.connection)
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 4)
        #expect(lines[0].contains(#""type":"snapshot""#))
        #expect(lines[1].hasSuffix(#""data":"one\n"}"#))
        #expect(lines[2].contains(#""data":{"type":"ready","connection":"default","#))
        #expect(lines[3].isEmpty)
    }

    @Test(arguments: StreamWay.allCases) func `JSON events begin with the retry hint and have ids`(
        way: StreamWay
    )
        throws
    {
        let text = try body("/events?format=json&since=start&limit=1", way: way) { $0.publish("one") }
        #expect(text.hasPrefix("retry: "))
        #expect(text.contains("\n\nid: "))
        #expect(text.hasSuffix(#""data":"one"}"# + "\n\n"))
    }

    @Test(arguments: StreamWay.allCases, ["ndjson", "raw"])
    func `formats without comments are silent, at their end too`(way: StreamWay, format: String) throws {
        var settings = HTTPSettings()
        settings.keepAlive = .milliseconds(10)
        let service = try TestService(settings, way: way)
        let client = try service.client(request("/events?format=\(format)", version: way.version))
        var ending: LoopTimer?
        client.onChange = {
            if client.hasEnded { return service.loop.stop() }
            guard ending == nil else { return }
            service.hub.append(.status(.ready), of: service.connection)
            ending = service.loop.startTimer(after: .milliseconds(60)) { service.hub.endAll() }
        }
        service.run()
        #expect(client.body == "")
        #expect(client.isComplete == way.isChunked)
        withExtendedLifetime(ending) {}
        service.stop()
    }

    @Test(arguments: StreamWay.allCases) func `what was sent is shown to those who ask`(way: StreamWay) throws
    {
        let text = try body(
            "/events?format=raw&since=start&direction=out&limit=1",
            way: way
        ) { service in
            service.publish("received")
            service.publish("sent", direction: .sent)
        }
        #expect(text == "sent\n")
    }

    @Test(arguments: StreamWay.allCases) func `several connections come in order of arrival`(way: StreamWay)
        throws
    {
        let service = try TestService(way: way)
        for number in 1...100 { service.publish("\(number)", of: number % 3 == 0 ? service.other : nil) }
        let client = try service.client(
            request("/v1/events?format=raw&since=start&limit=200", version: way.version)
        )
        var isLive = false
        client.onChange = {
            if client.hasEnded { return service.loop.stop() }
            guard !isLive else { return }
            isLive = true
            for number in 101...200 {
                service.publish("\(number)", of: number % 2 == 0 ? service.other : nil)
            }
        }
        service.run()
        #expect(client.body == (1...200).map { "\($0)\n" }.joined())
        service.stop()
    }

    @Test(arguments: StreamWay.allCases) func `the newest are what last asks for`(way: StreamWay) throws {
        let text = try body("/events?format=raw&last=2&limit=2", way: way) { service in
            for number in 1...5 { service.publish("\(number)") }
            service.hub.append(.status(.ready), of: service.connection)
        }
        #expect(text == "4\n5\n")
    }

    @Test func `shapes are counted, however they are framed`() throws {
        var settings = HTTPSettings()
        settings.maxFilters = 1
        let service = try TestService(settings)
        let filter = StreamFilter(connections: ConnectionSelection(service.connection))
        let (events, lines) = (StreamShape(filter: filter), StreamShape(filter: filter, format: .recordLines))
        #expect(service.hub.hasRoom(for: events) && service.hub.hasRoom(for: lines))
        let first = try service.client(request("/events"))
        let second = try service.client(request("/events", version: "1.0"))
        for client in [first, second] {
            client.onChange = { if service.hub.subscriberCount == 2 { service.loop.stop() } }
        }
        service.run()
        #expect(service.hub.hasRoom(for: events) && !service.hub.hasRoom(for: lines))
        service.hub.dropAll()
        #expect(service.hub.hasRoom(for: lines))
        service.stop()
    }

    @Test func `the list of subscribers says who reads what`() throws {
        let service = try TestService()
        for number in 1...3 { service.publish("\(number)") }
        let client = try service.client(request("/events?format=ndjson&types=text,status&direction=both"))
        let merged = try service.client(request("/v1/events?since=start&limit=100"))
        for client in [client, merged] {
            client.onChange = { if service.hub.subscriberCount == 2 { service.loop.stop() } }
        }
        service.run()
        let list = service.subscriberList
        #expect(
            list.contains(#""client":"127.0.0.1","format":"ndjson","filters":{"types":["text","status"],"#)
        )
        #expect(list.contains(#""direction":"both","topics":[],"matches":[]},"since":""#))
        #expect(list.contains(#""format":"json","filters":{"types":["text","binary"],"direction":"in","#))
        #expect(list.contains(#""lag":0,"gaps":0"#))
        service.stop()
    }
}
