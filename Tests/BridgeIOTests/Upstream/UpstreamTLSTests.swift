import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol

/// `wss://` against a real TLS server with certificates of its own.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct `TLS to upstreams` {
    private let loop = Loop()
    private let certificates: TestCertificates

    init() throws {
        certificates = try TestCertificates.shared.get()
    }

    private func settings(_ change: (inout TLSSettings) -> Void = { _ in }) -> TLSSettings {
        var settings = TLSSettings()
        settings.authorityFile = certificates.authority
        change(&settings)
        return settings
    }

    /// Dials `host` at a server with these settings, and stops once it is open.
    private func dial(
        _ server: TLSServer.Settings,
        host: String = "localhost",
        _ settings: TLSSettings
    ) throws -> (SocketRun, TestUpstream) {
        let upstream = try TestUpstream(loop: loop, tls: server)
        let url = "wss://\(host):\(upstream.port)/"
        let run = try SocketRun(loop: loop, url: url, tls: settings) { run, event in
            if case .opened = event { run.stop() }
        }
        run.run()
        // Its end must not stop the loop of a later dial.
        run.socket.drop()
        return (run, upstream)
    }

    private func expectRefusal(_ run: SocketRun, _ reason: String) {
        let expected = DialFailure(phase: .tls, error: "the upstream's certificate was refused: \(reason)")
        #expect(run.events == [.failed(expected)])
    }

    @Test func `a certificate of a custom authority for the name is accepted, and the name is sent`() throws {
        let (run, upstream) = try dial(certificates.server("good"), settings())
        #expect(run.events == [.opened(subprotocol: nil, compression: false)])
        #expect(upstream.peers.last?.tls?.serverName == "localhost")
    }

    @Test func `messages of any size cross, both ways`() throws {
        let upstream = try TestUpstream(loop: loop, tls: certificates.server("good"))
        let large = Message(.binary, (0..<(2 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let url = "wss://localhost:\(upstream.port)/"
        let run = try SocketRun(loop: loop, url: url, tls: settings()) { run, event in
            switch event {
            case .opened: run.send(large)
            case .message:
                run.socket.sendClose(code: 1000, reason: "")
                run.socket.flush()
            default: break
            }
        }
        run.run()
        let expected: [SocketEvent] = [
            .opened(subprotocol: nil, compression: false), .message(large),
            .closeFrame(code: 1000, reason: ""),
            .ended(error: nil),
        ]
        let isSame = run.facts == expected
        #expect(isSame)
    }

    @Test func `a certificate for the address is accepted, and no name is sent`() throws {
        let (run, upstream) = try dial(certificates.server("address"), host: "127.0.0.1", settings())
        #expect(run.events == [.opened(subprotocol: nil, compression: false)])
        let tls = try #require(upstream.peers.last?.tls)
        #expect(tls.isSecured)
        #expect(tls.serverName == nil)
    }

    @Test func `a certificate for a name does not do for an address`() throws {
        let (run, _) = try dial(certificates.server("good"), host: "127.0.0.1", settings())
        expectRefusal(run, "IP address mismatch")
    }

    @Test(arguments: ["other", "partial", "wildcard"])
    func `a certificate for another name is refused`(certificate: String) throws {
        let (run, _) = try dial(certificates.server(certificate), settings())
        expectRefusal(run, "hostname mismatch")
    }

    @Test func `the name to expect can be set, with a dot at its end and by a wildcard`() throws {
        let (good, _) = try dial(
            certificates.server("good"),
            host: "127.0.0.1",
            settings { $0.serverName = "upstream.test." }
        )
        #expect(good.failure == nil)
        let wild = settings { $0.serverName = "a.upstream.test" }
        let (wildcard, upstream) = try dial(certificates.server("wildcard"), wild)
        #expect(wildcard.failure == nil)
        #expect(upstream.peers.last?.tls?.serverName == "a.upstream.test")
    }

    @Test func `a wildcard within a label is refused`() throws {
        let partial = settings { $0.serverName = "local.upstream.test" }
        let (run, _) = try dial(certificates.server("partial"), partial)
        expectRefusal(run, "hostname mismatch")
    }

    @Test func `an expired certificate is refused`() throws {
        let (run, _) = try dial(certificates.server("expired"), settings())
        expectRefusal(run, "certificate has expired")
    }

    @Test func `a self-signed certificate is refused, unless it is trusted or nothing is verified`() throws {
        let server = certificates.server("self-signed")
        let (refused, _) = try dial(server, settings())
        expectRefusal(refused, "self-signed certificate")
        let (trusted, _) = try dial(server, settings { $0.authorityFile = server.certificate })
        #expect(trusted.failure == nil)
        let (unverified, _) = try dial(server, settings { $0.verifies = false })
        #expect(unverified.failure == nil)
    }

    @Test func `without a custom authority the system's are asked`() throws {
        let (run, _) = try dial(certificates.server("good"), TLSSettings())
        let refusal = "the upstream's certificate was refused: unable to get local issuer certificate; "
        let error = try #require(run.failure?.error)
        #expect(error.hasPrefix(refusal) && error.contains("SSL_CERT_FILE"))
    }

    @Test func `a file of authorities that is not there fails in phase tls and is named`() throws {
        let (run, _) = try dial(
            certificates.server("good"),
            settings { $0.authorityFile = "/nowhere/ca.pem" }
        )
        #expect(run.failure?.phase == .tls)
        let prefix = "no authorities can be read from /nowhere/ca.pem: "
        let error = try #require(run.failure?.error)
        #expect(error.hasPrefix(prefix) && error.count > prefix.count)
    }

    @Test func `our own certificate is presented where one is demanded`() throws {
        var server = certificates.server("good")
        server.clientAuthority = certificates.authority
        let with = settings { settings in
            settings.certificateFile = certificates.path("client.pem")
            settings.keyFile = certificates.path("client.key")
        }
        let (accepted, _) = try dial(server, with)
        #expect(accepted.failure == nil)
        let (refused, _) = try dial(server, settings())
        // TLS 1.3 tells after the handshake, while the request is out.
        #expect(refused.failure?.error.contains("certificate required") == true)
        let wrong = settings { settings in
            settings.certificateFile = certificates.path("client.pem")
            settings.keyFile = certificates.path("good.key")
        }
        let (mismatched, _) = try dial(server, wrong)
        #expect(mismatched.failure?.phase == .tls)
    }

    @Test func `a server that speaks nothing newer than TLS 1_1 is refused`() throws {
        var server = certificates.server("good")
        server.isOutdated = true
        let (run, _) = try dial(server, settings())
        #expect(run.failure?.phase == .tls)
        #expect(run.failure?.error.contains("protocol version") == true)
    }

    @Test func `a server that does not speak TLS is told as such`() throws {
        let upstream = try TestUpstream(loop: loop)
        upstream.greets(with: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        let run = try SocketRun(loop: loop, url: "wss://localhost:\(upstream.port)/", tls: settings())
        run.run()
        #expect(run.events == [.failed(DialFailure(phase: .tls, error: "TLS: wrong version number"))])
    }

    @Test func `an end without close_notify is told from an orderly one`() throws {
        for (isCutOff, error) in [
            (true, "the TLS connection was cut off without close_notify"), (false, nil),
        ] {
            let script = TestUpstream.Script(onOpen: { isCutOff ? $0.cutOff() : $0.finish() })
            let upstream = try TestUpstream(loop: loop, tls: certificates.server("good"), script: script)
            let run = try SocketRun(loop: loop, url: "wss://localhost:\(upstream.port)/", tls: settings())
            run.run()
            #expect(run.events == [.opened(subprotocol: nil, compression: false), .ended(error: error)])
        }
    }
}
