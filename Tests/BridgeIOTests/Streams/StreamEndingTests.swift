import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol

private func request(_ query: String = "", version: String = "1.1") -> String {
    "GET /events\(query) HTTP/\(version)\r\nHost: localhost\r\n\r\n"
}

/// Both ways in which streams reach their clients: written directly, and pulled by libmicrohttpd.
private let versions = ["1.1", "1.0"]
private let queries = [
    "?idle=30ms", "?idle=30ms&limit=9", "?idle=30ms&format=ndjson", "?idle=30ms&slow=disconnect",
]

@MainActor @Suite(.serialized, .timeLimit(.minutes(1))) struct `Streams that end by themselves` {
    @Test(arguments: versions, queries) func `do so cleanly when nothing comes`(
        version: String,
        query: String
    )
        throws
    {
        let service = try TestService()
        let client = try service.client(request(query, version: version))
        client.onChange = { if client.hasEnded { service.loop.stop() } }
        service.run()
        #expect(client.isComplete == (version == "1.1"))
        #expect(service.hub.subscriberCount == 0)
        service.stop()
    }

    @Test(arguments: versions) func `have shown what was there`(version: String) throws {
        let service = try TestService()
        for number in 1...3000 { service.publish("message \(number)") }
        let client = try service.client(request("?since=start&idle=1ms", version: version))
        client.onChange = { if client.hasEnded { service.loop.stop() } }
        service.run()
        #expect(client.data == (1...3000).map { "message \($0)" })
        #expect(client.isComplete == (version == "1.1"))
        service.stop()
    }

    @Test(arguments: versions) func `wait while something comes now and then`(version: String) throws {
        let service = try TestService()
        let client = try service.client(request("?idle=40ms", version: version))
        var published = 0
        var timer: LoopTimer?
        func publishNext() {
            published += 1
            service.publish("message \(published)")
            timer = published < 10 ? service.loop.startTimer(after: .milliseconds(10), publishNext) : nil
        }
        client.onChange = {
            if client.hasEnded { return service.loop.stop() }
            if published == 0 { publishNext() }
        }
        service.run()
        // How many came in time is the machine's affair; what came is shown.
        #expect(client.data.count >= 1)
        #expect(client.data == (1...client.data.count).map { "message \($0)" })
        withExtendedLifetime(timer) {}
        service.stop()
    }

    @Test(arguments: versions) func `do not while a client that stalls has not got everything`(
        version: String
    )
        throws
    {
        let service = try TestService()
        let filling = String(repeating: "x", count: 100_000)
        let client = try service.client(request("?idle=20ms", version: version))
        let count = 100
        var isStalled = false
        var resumption: LoopTimer?
        client.onChange = {
            if client.hasEnded { return service.loop.stop() }
            guard !isStalled else { return }
            isStalled = true
            client.pause()
            for number in 1...count { service.publish("\(number) \(filling)") }
            resumption = service.loop.startTimer(after: .milliseconds(100)) { client.resume() }
        }
        service.run()
        #expect(client.data.count == count)
        #expect(client.isComplete == (version == "1.1"))
        withExtendedLifetime(resumption) {}
        service.stop()
    }

    @Test(arguments: versions) func `are not kept by what their filter keeps back`(version: String) throws {
        let service = try TestService()
        let client = try service.client(request("?types=binary&idle=30ms", version: version))
        var timer: LoopTimer?
        func publishNext() {
            service.publish("not for this one")
            timer = service.loop.startTimer(after: .milliseconds(5), publishNext)
        }
        client.onChange = {
            if client.hasEnded { return service.loop.stop() }
            if timer == nil { publishNext() }
        }
        service.run()
        #expect(client.data.isEmpty)
        withExtendedLifetime(timer) {}
        service.stop()
    }
}

@MainActor @Suite(.serialized, .timeLimit(.minutes(1))) struct `Slow subscribers` {
    private static let count = 200
    private static let filling = String(repeating: "x", count: 100_000)

    /// Publishes more than sockets, feed and history hold, to a client that does not read.
    private func overrun(_ query: String, version: String) throws -> (
        service: TestService, client: TestClient
    ) {
        let service = try TestService(history: HistoryLimits(maxMessages: 10))
        let client = try service.client(request(query, version: version))
        var published = 0
        var turns: BeforeWaiting?
        client.onChange = {
            client.pause()
            guard turns == nil else { return }
            turns = BeforeWaiting(loop: service.loop) {
                guard published < Self.count else { return service.loop.stop() }
                published += 1
                service.publish("\(published) \(Self.filling)")
                service.endTurn()
            }
        }
        // Gives the loop turns though nothing happens.
        var tick: LoopTimer?
        func keepTurning() { tick = service.loop.startTimer(after: .milliseconds(1), keepTurning) }
        keepTurning()
        service.run()
        withExtendedLifetime((turns, tick)) {}
        return (service, client)
    }

    @Test(arguments: versions) func `are disconnected if they wish so, though they do not read`(
        version: String
    )
        throws
    {
        let (service, client) = try overrun("?slow=disconnect", version: version)
        #expect(service.hub.subscriberCount == 0)
        #expect(service.hub.gaps(of: service.connection) == 0)
        client.onChange = { if client.hasEnded { service.loop.stop() } }
        client.resume()
        service.run()
        #expect(!client.isComplete)
        #expect(!client.text.contains("event: gap"))
        service.stop()
    }

    @Test(arguments: versions) func `stay otherwise, and their gaps are counted`(version: String) throws {
        let (service, client) = try overrun("", version: version)
        #expect(service.hub.subscriberCount == 1)
        client.onChange = {
            if client.endsWith(message: "\(Self.count) \(Self.filling)") { service.loop.stop() }
        }
        client.resume()
        service.run()
        let gaps = client.data.count { $0.hasPrefix("{\"missed\":") }
        #expect(gaps >= 1)
        #expect(service.hub.gaps(of: service.connection) == gaps)
        #expect(service.hub.gaps(of: service.other) == 0)
        #expect(service.subscriberList.contains("\"gaps\":\(gaps)"))
        service.stop()
    }
}
