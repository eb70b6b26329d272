import BridgeCore
import BridgeIO
import Testing

/// Readers whose filters pass over much of what is kept.
@MainActor @Suite(.serialized, .timeLimit(.minutes(2))) struct `Readers that search` {
    /// What has to be looked through before the one that is wanted: many times what one turn allows.
    private func fill(_ service: TestService) {
        let padding = String(repeating: "x", count: 30_000)
        service.publish(#"{"n":1,"is":"wanted"}"#)
        for _ in 0..<200 { service.publish(#"{"n":0,"padding":"\#(padding)"}"#) }
        service.publish(#"{"n":1,"is":"wanted"}"#)
    }

    private func request(_ target: String, _ way: StreamWay = .detached) -> String {
        "GET \(target) HTTP/\(way.version)\r\nHost: localhost\r\n\r\n"
    }

    /// Runs until the reader has found both, and says what others got before that.
    private func others(
        _ service: TestService,
        _ reader: TestClient,
        meanwhile publish: @escaping () -> Void
    ) throws -> String {
        let other = try service.client(request("/events"))
        var turns: BeforeWaiting?
        turns = BeforeWaiting(loop: service.loop) {
            guard service.hub.hasNews, service.hub.readerCount == 2 else { return }
            turns = nil
            publish()
        }
        var got = ""
        reader.onChange = {
            guard reader.text.split(separator: "wanted").count > 2 else { return }
            got = other.text
            service.loop.stop()
        }
        service.run()
        withExtendedLifetime(turns) {}
        return got
    }

    @Test(
        arguments: StreamWay.allCases,
        ["/events?since=start&match=/n:1", "/events?last=2&match=/n:1", "/events?last=2&match=/n:1&limit=2"]
    )
    func `leave their turns to others`(way: StreamWay, target: String) throws {
        let service = try TestService(way: way)
        fill(service)
        let reader = try service.client(request(target, way))
        let got = try others(service, reader) { service.publish("meanwhile") }
        #expect(got.contains("data: meanwhile\n"))
        #expect(!reader.text.contains("padding"))
        service.stop()
    }

    @Test(
        arguments: StreamWay.allCases,
        [
            "/events?since=start&match=/n:2", "/events?last=2&match=/n:2",
            "/events?last=2&match=/n:2&limit=2",
            "/events?since=start&match=/n:2&slow=disconnect",
        ]
    )
    func `find what comes, though more comes than they can look through`(way: StreamWay, target: String)
        throws
    {
        let service = try TestService(way: way)
        fill(service)
        let reader = try service.client(request(target, way))
        let padding = "padding" + String(repeating: "x", count: 10_000)
        var count = 0
        var next: LoopTimer?
        let turns = BeforeWaiting(loop: service.loop) {
            guard service.hub.readerCount == 1, !reader.text.contains("news") else { return }
            for _ in 0..<200 { service.publish(padding) }
            count += 1
            if count == 40 { service.publish(#"{"n":2,"is":"news"}"#) }
            next = service.loop.startTimer(after: .zero) {}
        }
        reader.onChange = { if reader.text.contains("news") { service.loop.stop() } }
        service.run()
        #expect(!reader.text.contains("padding"))
        withExtendedLifetime((turns, next)) {}
        service.stop()
    }

    @Test(arguments: ["/messages?match=/n:1", "/messages?match=/n:1&wait=5m"])
    func `leave their turns to others when they poll`(target: String) throws {
        let service = try TestService()
        fill(service)
        let reader = try service.client(request(target))
        let got = try others(service, reader) { service.publish("meanwhile") }
        #expect(got.contains("data: meanwhile\n"))
        #expect(!reader.text.contains("padding"))
        #expect(service.hub.readerCount == 1)
        service.stop()
    }

    @Test(arguments: [
        "/messages?match=/n:2&wait=5m", "/events?since=start&match=/n:2", "/events?last=1&match=/n:2",
    ])
    func `are forgotten when they leave`(target: String) throws {
        let service = try TestService()
        fill(service)
        let reader = try service.client(request(target))
        var turns: BeforeWaiting?
        var hasLeft = false
        turns = BeforeWaiting(loop: service.loop) {
            if service.hub.hasNews, service.hub.readerCount == 1, !hasLeft {
                hasLeft = true
                reader.leave()
            } else if hasLeft, service.hub.readerCount == 0, !service.hub.hasNews {
                service.loop.stop()
            }
        }
        service.run()
        #expect(hasLeft)
        withExtendedLifetime(turns) {}
        service.stop()
    }

    @Test(arguments: [
        "/messages?match=/n:2&wait=5m", "/events?since=start&match=/n:2", "/events?last=1&match=/n:2",
    ])
    func `end with the bridge`(target: String) throws {
        let service = try TestService()
        fill(service)
        let reader = try service.client(request(target))
        var turns: BeforeWaiting?
        turns = BeforeWaiting(loop: service.loop) {
            guard service.hub.hasNews, service.hub.readerCount == 1 else { return }
            turns = nil
            service.hub.endAll()
        }
        reader.onChange = {
            if reader.hasEnded || reader.text.hasSuffix("}\n") || reader.text.hasSuffix("0\r\n\r\n") {
                service.loop.stop()
            }
        }
        service.run()
        #expect(service.hub.readerCount == 0)
        withExtendedLifetime(turns) {}
        service.stop()
    }
}
