import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// Messages, pressure and ends of an open upstream socket, over loopback.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct `Upstream socket` {
    private let loop = Loop()
    private static let hello = Message(.text, Array("hello".utf8))

    private func run(
        _ upstream: TestUpstream,
        maximumMessageBytes: Int = 16 << 20,
        compression: DeflateOffer? = nil,
        onEvent: @escaping (SocketRun, SocketEvent) -> Void
    ) throws -> SocketRun {
        let run = try SocketRun(
            loop: loop,
            url: "ws://127.0.0.1:\(upstream.port)",
            maximumMessageBytes: maximumMessageBytes,
            asking: TermsChange { $0.compression = compression },
            onEvent: onEvent
        )
        run.run()
        return run
    }

    @Test(arguments: [false, true], [0, 1, 125, 126, 65535, 65536, 1 << 20])
    func `messages are echoed whole, compressed or not`(compresses: Bool, length: Int) throws {
        let upstream = try TestUpstream(loop: loop, script: TestUpstream.Script(compresses: compresses))
        let text = Message(.text, [UInt8](repeating: UInt8(ascii: "x"), count: length))
        let binary = Message(.binary, (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 2) })
        let run = try run(upstream, compression: DeflateOffer()) { run, event in
            switch event {
            case .opened:
                run.send(text)
                run.send(binary)
            case .message(binary) where run.facts.count == 3: run.stop()
            default: break
            }
        }
        let expected: [SocketEvent] = [
            .opened(subprotocol: nil, compression: compresses), .message(text), .message(binary),
        ]
        let isSame = run.facts == expected
        #expect(isSame)
    }

    @Test func `frames are numbered and reported as written once the kernel took them`() throws {
        let upstream = try TestUpstream(loop: loop)
        var numbers: [UInt64] = []
        let run = try run(upstream) { run, event in
            guard case .opened = event else {
                if case .message = event { run.stop() }
                return
            }
            numbers.append(run.socket.sendPing([1]))
            numbers.append(run.socket.sendPong([2]))
            numbers.append(run.socket.send(Self.hello))
            // Nothing goes out before the flush.
            #expect(run.events.count == 1)
            #expect(run.socket.unwrittenBytes == 7 + 7 + 11)
            run.socket.flush()
            #expect(run.events.last == .written(through: 3))
            #expect(run.socket.unwrittenBytes == 0)
        }
        #expect(numbers == [1, 2, 3])
        #expect(upstream.peers.first?.received == [.ping([1]), .pong([2]), .message(Self.hello)])
        #expect(run.facts.last == .message(Self.hello))
    }

    @Test func `before it is open a socket takes nothing`() throws {
        let run = try SocketRun(loop: loop, url: "ws://127.0.0.1:9")
        let number = run.socket.send(Self.hello)
        #expect(number == 0)
        #expect(run.socket.unwrittenBytes == 0)
    }

    @Test func `what a slow reader leaves waits, bounded by what was sent, and follows when it reads`() throws
    {
        let script = TestUpstream.Script(onOpen: { $0.stream.stopReading() }, onEvent: { _, _ in })
        let upstream = try TestUpstream(loop: loop, script: script)
        let large = Message(.binary, [UInt8](repeating: 7, count: 16 << 20))
        let run = try run(upstream) { run, event in
            switch event {
            case .opened:
                run.send(large)
                #expect(run.socket.unwrittenBytes > 0)
                #expect(run.events.count == 1)
                // Joins the queue behind the first.
                run.send(Self.hello)
                upstream.peers.first?.stream.startReading()
            case .written(through: 2): run.stop()
            default: break
            }
        }
        let expected: [SocketEvent] = [
            .opened(subprotocol: nil, compression: false), .written(through: 1), .written(through: 2),
        ]
        #expect(run.events == expected)
        #expect(run.socket.unwrittenBytes == 0)
        run.socket.drop()
        loop.run(until: { upstream.peers.first?.hasEnded == true })
        let received = upstream.peers.first?.received == [.message(large), .message(Self.hello)]
        #expect(received)
    }

    @Test func `a violation is reported once, and our close frame still goes out`() throws {
        let script = TestUpstream.Script(onOpen: { peer in
            peer.sendRaw(rawFrame(0x81, text: "good") + [0x83] + rawFrame(0x81, text: "late"))
        })
        let upstream = try TestUpstream(loop: loop, script: script)
        let run = try run(upstream) { run, event in
            guard case .violation(let failure) = event else { return }
            run.socket.sendClose(code: failure.code, reason: failure.reason)
            run.socket.flush()
        }
        let expected: [SocketEvent] = [
            .opened(subprotocol: nil, compression: false), .message(Message(.text, Array("good".utf8))),
            .violation(WebSocketFailure(1002, "unknown opcode")), .ended(error: nil),
        ]
        #expect(run.facts == expected)
        #expect(upstream.peers.first?.received == [.close(code: 1002, reason: "unknown opcode")])
    }

    @Test func `a message over the limit is a violation with 1009`() throws {
        let script = TestUpstream.Script(onOpen: {
            $0.send(Message(.binary, [UInt8](repeating: 0, count: 101)))
        })
        let upstream = try TestUpstream(loop: loop, script: script)
        let run = try run(upstream, maximumMessageBytes: 100) { run, event in
            if case .violation = event { run.stop() }
        }
        #expect(run.events.last == .violation(WebSocketFailure(1009, "message too big")))
    }

    @Test(arguments: [nil, 1000, 1012, 4999] as [UInt16?])
    func `a close frame is reported, answered by the connection, and the end follows`(code: UInt16?) throws {
        let script = TestUpstream.Script(
            onOpen: { peer in
                peer.sendClose(code: code)
                peer.send(Self.hello)
            },
            onEvent: { peer, _ in peer.finish() }
        )
        let upstream = try TestUpstream(loop: loop, script: script)
        let run = try run(upstream) { run, event in
            guard case .closeFrame(let code, let reason) = event else { return }
            run.socket.sendClose(code: code, reason: reason)
            run.socket.flush()
        }
        let expected: [SocketEvent] = [
            .opened(subprotocol: nil, compression: false), .closeFrame(code: code, reason: ""),
            .ended(error: nil),
        ]
        #expect(run.facts == expected)
        #expect(upstream.peers.first?.received == [.close(code: code, reason: "")])
    }

    @Test func `a socket dropped within an event reports nothing more`() throws {
        let script = TestUpstream.Script(
            afterAnswer: rawFrame(0x81, text: "one") + rawFrame(0x81, text: "two")
        )
        let upstream = try TestUpstream(loop: loop, script: script)
        let run = try run(upstream) { run, event in
            guard case .message = event else { return }
            run.socket.drop()
            run.stop()
        }
        #expect(run.events.count == 2)
        loop.run(until: { upstream.peers.first?.hasEnded == true })
        #expect(run.events.count == 2)
        #expect(run.socket.send(Self.hello) == 0)
    }

    @Test func `a paused socket leaves what comes to the kernel`() throws {
        let script = TestUpstream.Script(
            onOpen: { $0.send(Self.hello) },
            onEvent: { peer, _ in peer.send(Self.hello) }
        )
        let upstream = try TestUpstream(loop: loop, script: script)
        let run = try run(upstream) { run, event in
            guard case .message = event else { return }
            if run.facts.count == 2 {
                run.socket.isHeldBack = true
                _ = run.socket.sendPing([])
                run.socket.flush()
            }
            run.stop()
        }
        // The answer to the ping is under way, and stays there.
        loop.run(until: { upstream.peers.first?.received.isEmpty == false })
        #expect(run.facts.count == 2)
        run.socket.isHeldBack = false
        run.resume()
        #expect(run.facts.count == 3)
    }

    @Test func `a reset after it was open is an end with a reason`() throws {
        // Closing with unread bytes resets the connection.
        let script = TestUpstream.Script(onOpen: { $0.stream.stopReading() })
        let upstream = try TestUpstream(loop: loop, script: script)
        let run = try run(upstream) { run, event in
            if case .opened = event { run.send(Self.hello) }
            if case .written = event { upstream.dropPeers() }
        }
        #expect(run.events.last == .ended(error: "connection reset by peer"))
    }
}

extension Loop {
    /// Runs until `condition` holds, looked at after all input of each turn.
    @MainActor fileprivate func run(until condition: @escaping () -> Bool) {
        let hook = AfterInput(loop: self) { [unowned self] in
            if condition() { stop() }
        }
        let guardian = startTimer(after: .seconds(20)) { [unowned self] in
            Issue.record("nothing happens any more")
            stop()
        }
        if !condition() { run() }
        withExtendedLifetime((hook, guardian)) {}
    }
}
