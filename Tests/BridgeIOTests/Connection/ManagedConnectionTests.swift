import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol

@MainActor @Suite(.serialized) struct `Managed connection` {
    @Test func `messages cross in both directions`() throws {
        let scene = try ConnectionScene.open()
        let peer = try scene.peer(0)
        try scene.send("to the upstream")
        peer.send("from the upstream")
        scene.run { peer.texts.count == 1 && scene.log.texts.count == 1 }
        #expect(peer.texts == ["to the upstream"])
        #expect(scene.log.texts == ["from the upstream"])
    }

    @Test func `an opening is recorded step by step`() throws {
        let scene = try ConnectionScene.open()
        #expect(scene.log.records == [.connecting, .open(subprotocol: nil, reconnected: false), .ready])
    }

    @Test func `messages that were queued before the connection was up go out in order`() throws {
        let scene = try ConnectionScene()
        let ids = try ["a", "b", "c"].map { try scene.send($0) }
        scene.connection.start()
        scene.run { scene.sent.count == 3 && scene.upstream.peers.first?.texts.count == 3 }
        #expect(try scene.peer(0).texts == ["a", "b", "c"])
        #expect(scene.sent == ids)
        #expect(scene.log.written == ["a", "b", "c"])
    }

    @Test func `after a drop it dials again and flushes the outbox in order`() throws {
        let scene = try ConnectionScene.open()
        try scene.peer(0).drop()
        scene.run { !scene.connection.isReady }
        for text in ["a", "b", "c"] { try scene.send(text) }
        scene.run { scene.upstream.peers.count == 2 && scene.upstream.peers[1].texts.count == 3 }
        #expect(try scene.peer(1).texts == ["a", "b", "c"])
        #expect(scene.log.records.contains(.closed(code: 1006, reason: "", clean: false, by: .server)))
        #expect(scene.log.records.contains(.open(subprotocol: nil, reconnected: true)))
    }

    @Test func `a connection that is replaced takes its outbox along, in order`() throws {
        let scene = try ConnectionScene.open()
        let other = try UpstreamDouble(loop: scene.loop)
        try scene.peer(0).drop()
        scene.run { !scene.connection.isReady }
        let url = try WebSocketURL("ws://127.0.0.1:\(other.port)/")
        let target = UpstreamTarget(terms: ClientHandshake.Terms(url: url), maximumMessageBytes: 1 << 20)
        try scene.send("before")
        scene.connection.replace(route: UpstreamRoute(target), settings: ConnectionSettings())
        try scene.send("after")
        scene.run { other.peers.first?.texts.count == 2 }
        #expect(other.peers.first?.texts == ["before", "after"])
        #expect(scene.log.records.last == .ready)
    }

    @Test func `what a dropped socket had not written goes out again, in order and complete`() throws {
        let scene = try ConnectionScene.open(ConnectionScene.makeRoom)
        let peer = try scene.peer(0)
        try scene.upload(300)
        // Some of them are taken; the rest is more than the kernel takes in a turn.
        scene.run { !scene.sent.isEmpty }
        peer.drop()
        scene.run { scene.sent.count == 300 && scene.upstream.peers.count == 2 }
        let second = try scene.peer(1)
        scene.run { second.texts.last?.hasPrefix("299 ") == true }
        let numbers = second.texts.compactMap { Int($0.prefix { $0 != " " }) }
        let first = try #require(numbers.first)
        #expect(first > 0)
        #expect(numbers == Array(first...299))
        #expect(scene.sent.map(\.number) == Array(1...300))
    }

    @Test func `a large backlog reaches a peer that reads in order`() throws {
        let scene = try ConnectionScene()
        let padding = String(repeating: "x", count: 10_000)
        for number in 0..<900 { try scene.send("\(number) \(padding)") }
        scene.connection.start()
        scene.run { scene.upstream.peers.first?.texts.count == 900 }
        let numbers = try scene.peer(0).texts.compactMap { Int($0.prefix { $0 != " " }) }
        #expect(numbers == Array(0..<900))
    }

    @Test func `pings of the peer are answered`() throws {
        let scene = try ConnectionScene.open()
        let peer = try scene.peer(0)
        peer.write([0x89, 2, 7, 8])
        scene.run { !peer.events.isEmpty }
        #expect(peer.events == [.pong([7, 8])])
    }

    @Test func `a disconnect tells the peer and stays closed`() throws {
        let scene = try ConnectionScene.open()
        let peer = try scene.peer(0)
        scene.connection.disconnect(code: 4001, reason: "enough")
        scene.run { !peer.events.isEmpty }
        #expect(peer.events == [.close(code: 4001, reason: "enough")])
        peer.close(4001)
        peer.drop()
        scene.run { scene.connection.status.standing == .closed }
        #expect(scene.log.records.last == .closed(code: 4001, reason: "", clean: true, by: .user))
        #expect(throws: OutboxError.closed) { try scene.send("too late") }
    }

    @Test func `a violation is answered with its code, and dialled again`() throws {
        let scene = try ConnectionScene.open()
        let peer = try scene.peer(0)
        peer.write([0x83, 0])
        scene.run { !peer.events.isEmpty }
        guard case .close(let code, _) = try #require(peer.events.first) else {
            Issue.record("no close frame")
            return
        }
        #expect(code == 1002)
        peer.drop()
        scene.run { scene.upstream.peers.count == 2 && scene.connection.isReady }
    }

    @Test func `reconnect leaves the old socket with a word and opens a new one`() throws {
        let scene = try ConnectionScene.open()
        scene.connection.reconnect()
        scene.run { scene.upstream.peers.count == 2 && scene.connection.isReady }
        let old = try scene.peer(0)
        scene.run { old.isOver }
        #expect(old.events == [.close(code: 1000, reason: "")])
    }

    @Test func `an upstream that never answers the handshake fails in time, there`() throws {
        let scene = try ConnectionScene {
            $0.connectTimeout = .milliseconds(50)
            $0.reconnect.enabled = false
        }
        scene.upstream.answersHandshake = false
        scene.connection.start()
        scene.run { scene.connection.status.standing == .closed }
        let failure = DialFailure(phase: .handshake, error: "not connected within 50 ms")
        #expect(scene.log.records == [.connecting, .failed(failure)])
    }

    @Test func `an upstream that is not there fails and is dialled until the retries are used up`() throws {
        let scene = try ConnectionScene { $0.reconnect.maxRetries = 2 }
        scene.upstream.stopListening()
        scene.connection.start()
        scene.run { scene.connection.status.standing == .failed }
        let phases = scene.log.records.compactMap {
            if case .failed(let failure) = $0 { failure.phase } else { nil }
        }
        #expect(phases == [.tcp, .tcp, .tcp])
        #expect(scene.log.records.last == .gaveUp(attempts: 2))
    }

    @Test func `messages that wait for too long expire, though nothing else happens`() throws {
        let scene = try ConnectionScene {
            $0.connect = .manual
            $0.outbox.maxAge = .milliseconds(5)
        }
        let ids = try [scene.send("a"), scene.send("b")]
        scene.run { scene.lost.count == 2 }
        #expect(scene.lost == ids)
        #expect(scene.log.records == ids.map { .messageExpired(id: $0.description) })
        #expect(scene.connection.status.tally.expired == 2)
    }

    @Test func `a message that comes back expires in its own time, not with a newer one`() throws {
        let scene = try ConnectionScene.open {
            ConnectionScene.makeRoom(&$0)
            $0.reconnect.enabled = false
            $0.outbox.maxAge = .milliseconds(800)
        }
        let peer = try scene.peer(0)
        peer.stopReading()
        // More than the kernel takes: it stays in flight, and the next one behind it.
        let old = try scene.send(String(repeating: "x", count: 20_000_000))
        var hasWaited = false
        let pause = scene.loop.startTimer(after: .milliseconds(400)) { hasWaited = true }
        scene.run { hasWaited }
        pause.cancel()
        let new = try scene.send("new")
        peer.drop()
        scene.run { !scene.lost.isEmpty }
        #expect(scene.lost == [old])
        scene.run { scene.lost.count == 2 }
        #expect(scene.lost == [old, new])
    }

    @Test func `messages dropped for newer ones are recorded`() throws {
        let scene = try ConnectionScene {
            $0.connect = .manual
            $0.outbox.maxMessages = 1
            $0.outbox.overflow = .dropOldest
        }
        let old = try scene.send("old")
        try scene.send("new")
        #expect(scene.lost == [old])
        #expect(scene.log.records == [.messageDropped(id: old.description)])
    }

    @Test func `stop writes what waits, closes as going away, and leaves nothing on the loop`() throws {
        let scene = try ConnectionScene.open()
        let peer = try scene.peer(0)
        try scene.send("last words")
        var isFinished = false
        scene.connection.stop { isFinished = true }
        scene.run { peer.events.count == 2 }
        #expect(peer.texts == ["last words"])
        #expect(peer.events.last == .close(code: 1001, reason: ""))
        peer.close(1001)
        peer.drop()
        scene.upstream.stopListening()
        scene.run { isFinished }
        scene.loop.run()
    }

    @Test func `the status shows what happened, and no secret of the URL`() throws {
        let scene = try ConnectionScene.open()
        try scene.send("12345")
        try scene.peer(0).send("123")
        scene.run { scene.sent.count == 1 && scene.log.texts.count == 1 }
        let status = scene.connection.status
        #expect((status.tally.sent, status.tally.sentBytes) == (1, 5))
        #expect((status.tally.received, status.tally.receivedBytes) == (1, 3))
        #expect(status.tally.opens == 1)
        #expect(status.url?.contains("secret") == false)
    }

    @Test func `a connection that becomes one for receiving keeps what waits and sends none of it`() throws {
        let scene = try ConnectionScene()
        scene.upstream.answersPings = false
        for text in ["a", "b"] { try scene.send(text) }
        let url = try WebSocketURL("ws://127.0.0.1:\(scene.upstream.port)/")
        var settings = ConnectionSettings()
        settings.receiveOnly = true
        settings.heartbeat.interval = .milliseconds(10)
        settings.heartbeat.missLimit = 1000
        let target = UpstreamTarget(terms: ClientHandshake.Terms(url: url), maximumMessageBytes: 1 << 20)
        scene.connection.replace(route: UpstreamRoute(target), settings: settings)
        scene.run { scene.upstream.peers.first?.events.count ?? 0 >= 3 }
        #expect(try scene.peer(0).texts == [])
        #expect(scene.connection.waiting.count == 2)
        #expect(throws: OutboxError.receiveOnly) { try scene.send("c") }
    }

    @Test func `a connection on demand is there for what waits in the outbox`() throws {
        let scene = try ConnectionScene { settings in
            settings.connect = .onDemand
            settings.idleTimeout = .milliseconds(10)
        }
        scene.connection.start()
        #expect(scene.log.records.isEmpty)
        try scene.send("a")
        let goodbye = FrameEvent.close(code: 1000, reason: "")
        scene.run { scene.upstream.peers.first?.events.last == goodbye }
        let peer = try scene.peer(0)
        peer.close(1000)
        peer.drop()
        scene.run { scene.log.records.contains(.closed(code: 1000, reason: "", clean: true, by: .bridge)) }
        #expect(peer.texts == ["a"])
        scene.connection.isFollowed = true
        scene.run { scene.upstream.peers.count == 2 && scene.connection.isReady }
    }
}
