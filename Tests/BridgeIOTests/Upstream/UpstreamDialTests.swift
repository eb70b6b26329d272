import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// How an upstream socket comes to be open, or to fail in the right phase.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct `Dialling an upstream` {
    private let loop = Loop()

    private func answered(_ answer: String) throws -> SocketRun {
        let upstream = try TestUpstream(loop: loop, script: TestUpstream.Script(answer: Array(answer.utf8)))
        let run = try SocketRun(loop: loop, url: "ws://127.0.0.1:\(upstream.port)/")
        run.run()
        withExtendedLifetime(upstream) {}
        return run
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `an upstream opens by address and by name`(host: String) throws {
        let upstream = try TestUpstream(loop: loop)
        let url = "http://us%65r:p%40ss@\(host):\(upstream.port)/a%20b?c=d"
        let change = TermsChange { terms in
            terms.subprotocols = ["first", "second"]
            terms.fields = [HTTPField("X-Test", "yes")]
            terms.compression = DeflateOffer()
        }
        let run = try SocketRun(loop: loop, url: url, asking: change) { run, _ in run.stop() }
        run.run()
        #expect(run.events == [.opened(subprotocol: "first", compression: false)])
        let request = try #require(upstream.peers.first?.request)
        #expect(request.target == "/a%20b?c=d")
        #expect(request.fields.contains(HTTPField("Host", "\(host):\(upstream.port)")))
        #expect(request.fields.contains(HTTPField("Authorization", "Basic dXNlcjpwQHNz")))
        #expect(request.fields.contains(HTTPField("X-Test", "yes")))
        #expect(request.compression == DeflateOffer())
    }

    @Test func `each attempt has its own key`() throws {
        let upstream = try TestUpstream(loop: loop)
        for _ in 0..<2 {
            let run = try SocketRun(loop: loop, url: "ws://127.0.0.1:\(upstream.port)") { run, _ in run.stop()
            }
            run.run()
            run.socket.drop()
        }
        let keys = Set(upstream.peers.compactMap { $0.request?.key })
        #expect(keys.count == 2)
    }

    @Test func `the server's first frames may come with its answer`() throws {
        let script = TestUpstream.Script(
            afterAnswer: rawFrame(0x81, text: "early") + rawFrame(0x89, text: "p")
        )
        let upstream = try TestUpstream(loop: loop, script: script)
        let run = try SocketRun(loop: loop, url: "ws://127.0.0.1:\(upstream.port)") { run, event in
            if case .ping = event { run.stop() }
        }
        run.run()
        let expected: [SocketEvent] = [
            .opened(subprotocol: nil, compression: false), .message(Message(.text, Array("early".utf8))),
            .ping(Array("p".utf8)),
        ]
        #expect(run.events == expected)
    }

    @Test func `a name that does not exist fails in phase dns`() throws {
        let run = try SocketRun(loop: loop, url: "ws://name.invalid/")
        run.run()
        #expect(run.events.count == 1)
        #expect(run.failure?.phase == .dns)
        #expect(run.failure?.error.hasPrefix("the name name.invalid cannot be resolved: ") == true)
    }

    @Test func `a port where nobody listens fails in phase tcp and names the address`() throws {
        var upstream: TestUpstream? = try TestUpstream(loop: loop)
        let port = upstream?.port ?? 0
        upstream = nil
        let run = try SocketRun(loop: loop, url: "ws://127.0.0.1:\(port)/")
        run.run()
        let expected = DialFailure(phase: .tcp, error: "127.0.0.1:\(port): connection refused")
        #expect(run.events == [.failed(expected)])
    }

    @Test func `a unix socket that is not there fails in phase tcp`() throws {
        let run = try SocketRun(loop: loop, url: "ws+unix:/nowhere/x.sock")
        run.run()
        let expected = DialFailure(phase: .tcp, error: "/nowhere/x.sock: no such file or directory")
        #expect(run.events == [.failed(expected)])
    }

    @Test func `a wrong proxy in the environment fails in phase proxy and dials nothing`() throws {
        let upstream = try TestUpstream(loop: loop)
        let proxies = EnvironmentProxies(["HTTP_PROXY": "ftp://secret@p"])
        let url = "ws://127.0.0.1:\(upstream.port)"
        let run = try SocketRun(loop: loop, url: url, proxy: .environment(proxies))
        run.run()
        #expect(run.failure?.phase == .proxy)
        #expect(run.failure?.error.hasPrefix("the environment variable HTTP_PROXY: expected a proxy") == true)
        #expect(upstream.peers.isEmpty)
    }

    @Test func `a status other than 101 fails in phase handshake with its Retry-After`() throws {
        let run = try answered("HTTP/1.1 503 Unavailable\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n")
        let expected = DialFailure(
            phase: .handshake,
            status: 503,
            retryAfter: .seconds(7),
            error: "the handshake was answered with HTTP status 503 instead of 101"
        )
        #expect(run.events == [.failed(expected)])
    }

    @Test(arguments: [
        ("SSH-2.0-OpenSSH_9.2\r\n", "the answer to the handshake is not HTTP/1.1"),
        (
            "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
            "the answer has a wrong Sec-WebSocket-Accept"
        ),
        ("HTTP/1.1 101 x\r\n\r\n", "the answer has status 101 but does not upgrade to WebSocket"),
    ])
    func `a wrong answer fails in phase handshake`(answer: String, error: String) throws {
        let run = try answered(answer)
        #expect(run.events == [.failed(DialFailure(phase: .handshake, error: error))])
    }

    @Test func `an end instead of an answer fails in phase handshake`() throws {
        let upstream = try TestUpstream(
            loop: loop,
            script: TestUpstream.Script(answer: [], onOpen: { $0.finish() })
        )
        let run = try SocketRun(loop: loop, url: "ws://127.0.0.1:\(upstream.port)")
        run.run()
        #expect(run.failure?.phase == .handshake)
        #expect(run.failure?.error == "the upstream closed the connection without an answer to the handshake")
    }

    @Test func `a field that cannot go into a request fails in phase handshake without its value`() throws {
        let upstream = try TestUpstream(loop: loop)
        let change = TermsChange { $0.fields = [HTTPField("X-Secret", "hunter2\r\nX: y")] }
        let run = try SocketRun(loop: loop, url: "ws://127.0.0.1:\(upstream.port)", asking: change)
        run.run()
        #expect(run.failure?.phase == .handshake)
        #expect(run.failure?.error == "the value of the header field X-Secret has a control character")
    }

    @Test func `the phase of an attempt can be asked for`() throws {
        let upstream = try TestUpstream(loop: loop)
        let run = try SocketRun(loop: loop, url: "ws://127.0.0.1:\(upstream.port)") { run, _ in run.stop() }
        run.socket.dial()
        #expect(run.socket.dialPhase == .tcp)
        run.resume()
        #expect(run.socket.dialPhase == .handshake)
    }

    @Test func `a socket that was dropped while it dialled reports nothing`() throws {
        let upstream = try TestUpstream(loop: loop)
        let run = try SocketRun(loop: loop, url: "ws://localhost:\(upstream.port)")
        run.socket.dial()
        run.socket.drop()
        let end = loop.startTimer(after: .milliseconds(20)) { run.stop() }
        run.resume()
        #expect(run.events == [])
        withExtendedLifetime((upstream, end)) {}
    }
}
