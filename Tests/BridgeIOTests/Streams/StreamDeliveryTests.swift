import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol

private func request(_ query: String = "", version: String = "1.1") -> String {
    "GET /events\(query) HTTP/\(version)\r\nHost: localhost\r\n\r\n"
}

/// The numbers with which the messages begin.
@MainActor private func numbers(_ client: TestClient) -> [Int] {
    client.data.compactMap { Int($0.prefix { $0 != " " }) }
}

@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct `Stream delivery` {
    @Test(arguments: StreamWay.allCases) func `a stream has the head of one, and the retry hint first`(
        way: StreamWay
    )
        throws
    {
        let service = try TestService(way: way)
        let client = try service.client(request(version: way.version))
        client.onChange = { if client.body?.hasSuffix("\n\n") ?? false { service.loop.stop() } }
        service.run()
        #expect(client.text.hasPrefix("HTTP/1.\(way.version.suffix(1)) 200 OK\r\n") || !way.isChunked)
        #expect(client.text.lowercased().contains("transfer-encoding: chunked") == way.isChunked)
        let retry = try #require(client.body?.split(separator: "\n").first)
        let milliseconds = try #require(Int(retry.dropFirst("retry: ".count)))
        #expect(1500...2500 ~= milliseconds)
        service.stop()
    }

    @Test(arguments: StreamWay.allCases) func `what is published arrives in order, once`(way: StreamWay)
        throws
    {
        let service = try TestService(way: way)
        let client = try service.client(request(version: way.version))
        let sent = (1...1000).map { "message \($0)" }
        client.onChange = {
            if client.data.isEmpty, service.hub.subscriberCount == 1 {
                for text in sent { service.publish(text) }
            }
            if client.data.count == sent.count { service.loop.stop() }
        }
        service.run()
        #expect(client.data == sent)
        service.stop()
    }

    @Test(arguments: StreamWay.allCases) func `replay joins what is live without gap or duplicate`(
        way: StreamWay
    )
        throws
    {
        let service = try TestService(way: way)
        for number in 1...5000 { service.publish("message \(number)") }
        let client = try service.client(request("?since=start", version: way.version))
        var published = 5000
        client.onChange = {
            while published < 6000 {
                published += 1
                service.publish("message \(published)")
                if published % 10 == 0 { return }
            }
            if client.text.contains("message 6000\n") { service.loop.stop() }
        }
        service.run()
        #expect(client.data == (1...6000).map { "message \($0)" })
        service.stop()
    }

    @Test(arguments: StreamWay.allCases) func `a limit ends the stream after so many records`(way: StreamWay)
        throws
    {
        let service = try TestService(way: way)
        let client = try service.client(request("?limit=3", version: way.version))
        client.onChange = {
            if client.hasEnded { return service.loop.stop() }
            if client.data.isEmpty { for number in 1...5 { service.publish("message \(number)") } }
        }
        service.run()
        #expect(client.data == ["message 1", "message 2", "message 3"])
        #expect(client.isComplete == way.isChunked)
        #expect(service.hub.subscriberCount == 0)
        service.stop()
    }

    @Test(arguments: StreamWay.allCases) func `a client that leaves is noticed without a message`(
        way: StreamWay
    )
        throws
    {
        let service = try TestService(way: way)
        let client = try service.client(request(version: way.version))
        client.onChange = { client.leave() }
        var turns: BeforeWaiting?
        var hadSubscriber = false
        turns = BeforeWaiting(loop: service.loop) {
            if service.hub.subscriberCount == 1 { hadSubscriber = true }
            if hadSubscriber, service.hub.subscriberCount == 0 { service.loop.stop() }
        }
        service.run()
        #expect(service.hub.subscriberCount == 0)
        withExtendedLifetime(turns) {}
        service.stop()
    }

    @Test(arguments: StreamWay.twoKinds)
    func `a subscriber that stalls gets everything later, and others get it now`(way: StreamWay) throws {
        let service = try TestService(way: way)
        let slow = try service.client(request(version: way.version))
        let fast = try service.client(request(version: way.version))
        let filling = String(repeating: "x", count: 10_000)
        let count = 1000
        let expected = (1...count).map { "\($0) \(filling)" }
        var published = 0
        var isStalled = false
        var turns: BeforeWaiting?
        // More than the socket and the feed hold together, a little in each turn.
        turns = BeforeWaiting(loop: service.loop) {
            guard published < count, isStalled, service.hub.subscriberCount == 2 else { return }
            published += 1
            service.publish("\(published) \(filling)")
            service.endTurn()
        }
        fast.onChange = { if fast.endsWith(message: expected[count - 1]) { slow.resume() } }
        slow.onChange = {
            if !isStalled { slow.pause() }
            isStalled = true
            if slow.endsWith(message: expected[count - 1]) { service.loop.stop() }
        }
        service.run()
        let (first, second) = (numbers(fast), numbers(slow))
        #expect(first.count == count && second.count == count)
        let isWhole = slow.data == expected && fast.data == expected
        #expect(isWhole)
        withExtendedLifetime(turns) {}
        service.stop()
    }

    @Test(arguments: StreamWay.twoKinds)
    func `records that a stalled subscriber can never get are announced as a gap`(way: StreamWay) throws {
        var history = HistoryLimits()
        history.maxMessages = 10
        let service = try TestService(history: history, way: way)
        let client = try service.client(request(version: way.version))
        let filling = String(repeating: "x", count: 100_000)
        let count = 200
        var published = 0
        var isStalled = false
        client.onChange = {
            client.pause()
            isStalled = true
        }
        var turns: BeforeWaiting?
        turns = BeforeWaiting(loop: service.loop) {
            guard isStalled, published == 0, service.hub.subscriberCount == 1 else { return }
            while published < count {
                published += 1
                service.publish("\(published) \(filling)")
                service.endTurn()
            }
            client.onChange = {
                if client.endsWith(message: "\(count) \(filling)") { service.loop.stop() }
            }
            client.resume()
        }
        service.run()
        let numbers = numbers(client)
        let missed = client.data.compactMap { line -> Int? in
            guard line.hasPrefix("{\"missed\":") else { return nil }
            return Int(line.dropFirst("{\"missed\":".count).prefix { $0 != "," })
        }
        #expect(missed.count == 1)
        let announced = missed.reduce(0, +)
        #expect(numbers.count + announced == count)
        #expect(numbers == numbers.sorted())
        #expect(numbers.last == count)
        withExtendedLifetime(turns) {}
        service.stop()
    }

    @Test(arguments: StreamWay.allCases) func `silence is broken by a comment`(way: StreamWay) throws {
        var settings = HTTPSettings()
        settings.keepAlive = .milliseconds(30)
        let service = try TestService(settings, way: way)
        let client = try service.client(request(version: way.version))
        client.onChange = { if client.body?.hasSuffix("\n\n:\n\n:\n\n") ?? false { service.loop.stop() } }
        service.run()
        #expect(client.data.isEmpty)
        service.stop()
    }

    @Test(arguments: StreamWay.allCases) func `silence by filtering is broken by the id alone`(way: StreamWay)
        throws
    {
        var settings = HTTPSettings()
        settings.keepAlive = .milliseconds(30)
        let service = try TestService(settings, way: way)
        let client = try service.client(request("?types=binary", version: way.version))
        var hasPublished = false
        client.onChange = {
            if !hasPublished { service.publish("not for this subscriber") }
            hasPublished = true
            if client.text.contains("id: \(service.hub.log.head.text)\n") { service.loop.stop() }
        }
        service.run()
        let id = service.hub.log.head.text
        #expect(client.body?.contains("\n\nid: \(id)\n\n") ?? false)
        #expect(client.data.isEmpty)
        service.stop()
    }

    @Test(arguments: StreamWay.allCases) func `the end of the bridge ends streams with a retry hint`(
        way: StreamWay
    )
        throws
    {
        let service = try TestService(way: way)
        let client = try service.client(request(version: way.version))
        client.onChange = {
            if client.hasEnded { return service.loop.stop() }
            if client.data.isEmpty, service.hub.log.headSequence == 0 {
                service.publish("the last one")
                service.hub.endAll()
            }
        }
        service.run()
        #expect(client.data == ["the last one"])
        let tail = try #require(client.body?.split(separator: "\n").last)
        #expect(tail.hasPrefix("retry: "))
        #expect(client.isComplete == way.isChunked)
        service.stop()
    }

    @Test func `what a client sends on an open stream is thrown away`() throws {
        let service = try TestService()
        let client = try service.client(request())
        client.onChange = {
            if client.text.contains("data: ") { return service.loop.stop() }
            client.send("GET /status HTTP/1.1\r\n\r\n" + String(repeating: "?", count: 100_000))
            service.publish("still here")
        }
        service.run()
        #expect(client.data.first == "still here")
        #expect(!client.text.dropFirst(9).contains("HTTP/1.1"))
        service.stop()
    }
}
