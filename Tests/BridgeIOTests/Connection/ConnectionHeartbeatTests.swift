import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol

@MainActor @Suite(.serialized) struct `Heartbeats of a managed connection` {
    @Test func `a peer that stops answering is lost, and dialled again`() throws {
        let scene = try ConnectionScene { $0.heartbeat.interval = .milliseconds(20) }
        scene.upstream.answersPings = false
        scene.connection.start()
        scene.run { scene.upstream.peers.count == 2 }
        let expected: [Lifecycle] = [
            .heartbeatMissed(misses: 1), .heartbeatMissed(misses: 2), .heartbeatLost,
            .closed(code: 1006, reason: "", clean: false, by: .bridge),
        ]
        #expect(Array(scene.log.records.dropFirst(3).prefix(4)) == expected)
        let pings = try scene.peer(0).events.count { if case .ping(_) = $0 { true } else { false } }
        #expect(pings == 2)
    }

    @Test func `a peer that answers gives a round trip`() throws {
        let scene = try ConnectionScene.open { $0.heartbeat.interval = .milliseconds(5) }
        scene.run { scene.connection.status.heartbeats.roundTrip != nil }
        let heartbeats = scene.connection.status.heartbeats
        #expect(heartbeats.lastAnswerAt != nil)
        #expect(heartbeats.sent > 0)
    }

    @Test func `a ping behind a large upload is not missed while the upload moves`() throws {
        let scene = try ConnectionScene.open {
            ConnectionScene.makeRoom(&$0)
            $0.heartbeat.interval = .milliseconds(500)
            $0.heartbeat.missLimit = 1
        }
        let peer = try scene.peer(0)
        peer.stopReading()
        try scene.send(String(repeating: "x", count: 20_000_000))
        var timer: LoopTimer?
        func sip() {
            peer.sip()
            timer = scene.loop.startTimer(after: .milliseconds(3)) { sip() }
        }
        sip()
        scene.run { scene.connection.status.heartbeats.sent == 1 }
        #expect(scene.log.records == [.connecting, .open(subprotocol: nil, reconnected: false), .ready])
        timer?.cancel()
        timer = nil
    }

    @Test func `a message that takes many heartbeats to come is no silence`() throws {
        let scene = try ConnectionScene { $0.heartbeat.interval = .milliseconds(200) }
        scene.upstream.answersPings = false
        scene.connection.start()
        scene.run { scene.connection.isReady && scene.upstream.peers.first?.isOpen == true }
        let peer = try scene.peer(0)
        // A text of six bytes, of which one comes after each ping and none answers it.
        peer.write([0x81, 6])
        var answered = 0
        scene.run {
            if peer.events.count > answered {
                answered += 1
                peer.write([0x78])
            }
            return !scene.log.texts.isEmpty || scene.upstream.peers.count > 1
        }
        #expect(scene.log.texts == ["xxxxxx"])
        #expect(!scene.log.records.contains(.heartbeatLost))
    }

    @Test func `an answer that came while the loop was busy is read before the heartbeat is judged`() throws {
        let scene = try ConnectionScene {
            $0.heartbeat.interval = .milliseconds(50)
            $0.heartbeat.missLimit = 1
        }
        scene.upstream.answersPings = false
        scene.connection.start()
        scene.run { scene.connection.isReady && scene.upstream.peers.first?.isOpen == true }
        let peer = try scene.peer(0)
        var isAnswered = false
        // After the loop has looked for input, and before it looks at its timers.
        let busy = AfterInput(loop: scene.loop) {
            guard !isAnswered, case .ping(let payload) = peer.events.last else { return }
            isAnswered = true
            peer.write([0x8A, UInt8(payload.count)] + payload)
            let end = scene.loop.now + .milliseconds(80)
            while scene.loop.now < end {}
        }
        scene.run { scene.connection.status.heartbeats.roundTrip != nil || scene.upstream.peers.count > 1 }
        withExtendedLifetime(busy) {}
        #expect(!scene.log.records.contains(.heartbeatMissed(misses: 1)))
    }

    @Test func `an upload that is stuck is as good as silence, until it moves again`() throws {
        let scene = try ConnectionScene.open {
            ConnectionScene.makeRoom(&$0)
            $0.heartbeat.interval = .milliseconds(20)
            $0.heartbeat.missLimit = 1_000_000
        }
        let peer = try scene.peer(0)
        peer.stopReading()
        try scene.upload(300)
        scene.run { scene.log.records.contains(.heartbeatMissed(misses: 3)) }
        peer.startReading()
        scene.run { scene.connection.status.heartbeats.roundTrip != nil && scene.sent.count == 300 }
        scene.run { scene.connection.status.heartbeats.misses == 0 }
        #expect(scene.connection.isReady)
    }
}
