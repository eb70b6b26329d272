import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol

private func request(_ query: String = "", version: String = "1.1") -> String {
    "GET /events\(query) HTTP/\(version)\r\nHost: localhost\r\n\r\n"
}

private let queries = [
    "?idle=30ms", "?idle=30ms&limit=9", "?idle=30ms&format=ndjson", "?idle=30ms&slow=disconnect",
]

@MainActor @Suite(.serialized, .timeLimit(.minutes(1))) struct `Streams that end by themselves` {
    @Test(arguments: StreamWay.allCases, queries) func `do so cleanly when nothing comes`(
        way: StreamWay,
        query: String
    )
        throws
    {
        let service = try TestService(way: way)
        let client = try service.client(request(query, version: way.version))
        client.onChange = { if client.hasEnded { service.loop.stop() } }
        service.run()
        #expect(client.isComplete == way.isChunked)
        #expect(service.hub.subscriberCount == 0)
        service.stop()
    }

    @Test(arguments: StreamWay.allCases) func `have shown what was there`(way: StreamWay) throws {
        let service = try TestService(way: way)
        for number in 1...3000 { service.publish("message \(number)") }
        let client = try service.client(request("?since=start&idle=1ms", version: way.version))
        client.onChange = { if client.hasEnded { service.loop.stop() } }
        service.run()
        #expect(client.data == (1...3000).map { "message \($0)" })
        #expect(client.isComplete == way.isChunked)
        service.stop()
    }

    @Test(arguments: StreamWay.allCases) func `wait while something comes now and then`(way: StreamWay) throws
    {
        let service = try TestService(way: way)
        let client = try service.client(request("?idle=40ms", version: way.version))
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

    @Test(arguments: StreamWay.twoKinds) func `do not while a client that stalls has not got everything`(
        way: StreamWay
    )
        throws
    {
        let service = try TestService(way: way)
        let filling = String(repeating: "x", count: 100_000)
        let client = try service.client(request("?idle=20ms", version: way.version))
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
        #expect(client.isComplete == way.isChunked)
        withExtendedLifetime(resumption) {}
        service.stop()
    }

    @Test(arguments: StreamWay.allCases) func `are not kept by what their filter keeps back`(way: StreamWay)
        throws
    {
        let service = try TestService(way: way)
        let client = try service.client(request("?types=binary&idle=30ms", version: way.version))
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
    private func overrun(_ query: String, way: StreamWay) throws -> (
        service: TestService, client: TestClient
    ) {
        let service = try TestService(history: HistoryLimits(maxMessages: 10), way: way)
        let client = try service.client(request(query, version: way.version))
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

    @Test(arguments: StreamWay.twoKinds) func `are disconnected if they wish so, though they do not read`(
        way: StreamWay
    )
        throws
    {
        let (service, client) = try overrun("?slow=disconnect", way: way)
        #expect(service.hub.subscriberCount == 0)
        #expect(service.hub.gaps(of: service.connection) == 0)
        client.onChange = { if client.hasEnded { service.loop.stop() } }
        client.resume()
        service.run()
        #expect(!client.isComplete)
        #expect(!client.text.contains("event: gap"))
        service.stop()
    }

    @Test(arguments: StreamWay.twoKinds) func `stay otherwise, and their gaps are counted`(way: StreamWay)
        throws
    {
        let (service, client) = try overrun("", way: way)
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
