import Testing
import WebSocketProtocol

@Suite struct `Client handshake` {
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private func handshake(
        _ url: String = "ws://server.example.com/chat",
        authorization: String? = nil,
        _ change: (inout ClientHandshake.Terms) -> Void = { _ in }
    ) throws -> ClientHandshake {
        var terms = ClientHandshake.Terms(url: try WebSocketURL(url))
        change(&terms)
        return try ClientHandshake(terms, key: Self.key, accept: Self.accept, authorization: authorization)
    }

    /// The answer of RFC 6455 §1.3 with further lines, or with others in its place.
    private func answer(
        status: String = "HTTP/1.1 101 Switching Protocols",
        upgrade: [String] = ["Upgrade: websocket", "Connection: Upgrade"],
        accept: [String] = ["Sec-WebSocket-Accept: \(accept)"],
        _ lines: String...
    ) -> String {
        ([status] + upgrade + accept + lines + ["", ""]).joined(separator: "\r\n")
    }

    private func outcome(
        of text: String,
        _ change: (inout ClientHandshake.Terms) -> Void = { _ in }
    ) throws -> Result<ClientHandshake.Agreement?, HandshakeFailure> {
        var handshake = try self.handshake("ws://server.example.com/chat", change)
        let bytes = Array(text.utf8)
        var offset = 0
        do throws(HandshakeFailure) {
            return .success(try handshake.read(bytes.span, from: &offset))
        } catch {
            return .failure(error)
        }
    }

    @Test func `the request is that of RFC 6455 1.3`() throws {
        let request = try handshake { terms in
            terms.fields = [HTTPField("Origin", "http://example.com")]
            terms.subprotocols = ["chat", "superchat"]
            terms.compression = DeflateOffer()
        }.request
        let expected = [
            "GET /chat HTTP/1.1", "Host: server.example.com", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Key: \(Self.key)", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Protocol: chat, superchat",
            "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits",
            "Origin: http://example.com", "", "",
        ]
        #expect(String(decoding: request, as: UTF8.self) == expected.joined(separator: "\r\n"))
    }

    @Test func `the server hashes key and GUID`() {
        let input = ClientHandshake.acceptInput(for: Self.key)
        #expect(String(decoding: input, as: UTF8.self) == Self.key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
    }

    @Test func `credentials become Authorization unless it is set`() throws {
        let own = try handshake(authorization: "Basic dTpw").request
        #expect(String(decoding: own, as: UTF8.self).contains("\r\nAuthorization: Basic dTpw\r\n"))
        let set = try handshake(authorization: "Basic dTpw") {
            $0.fields = [HTTPField("authorization", "Bearer t"), HTTPField("HOST", "other")]
        }.request
        let text = String(decoding: set, as: UTF8.self)
        #expect(text.contains("\r\nauthorization: Bearer t\r\nHOST: other\r\n"))
        #expect(!text.contains("Basic"))
        #expect(!text.contains("Host:"))
    }

    @Test(arguments: [
        (HTTPField("X", "a\r\nY: b"), HandshakeRequestError.invalidFieldValue(name: "X")),
        (HTTPField("X", "a\nY: b"), .invalidFieldValue(name: "X")),
        (HTTPField("X", "a\u{0}"), .invalidFieldValue(name: "X")),
        (HTTPField("X: y\r\nZ", "a"), .invalidFieldName),
        (HTTPField("", "a"), .invalidFieldName), (HTTPField("A B", "a"), .invalidFieldName),
        (HTTPField("upgrade", "h2c"), .reservedField(name: "upgrade")),
        (HTTPField("Sec-WebSocket-Key", "k"), .reservedField(name: "Sec-WebSocket-Key")),
        (HTTPField("Content-Length", "5"), .reservedField(name: "Content-Length")),
    ])
    func `a field that would break the request is refused`(
        field: HTTPField,
        expected: HandshakeRequestError
    ) {
        #expect(throws: expected) { try handshake { $0.fields = [field] } }
    }

    @Test(arguments: [["a b"], ["a,b"], [""], ["a\r\nX: y"], ["a", "a"]])
    func `an invalid subprotocol is refused`(subprotocols: [String]) {
        #expect(throws: HandshakeRequestError.invalidSubprotocol) {
            try handshake { $0.subprotocols = subprotocols }
        }
    }

    @Test func `the answer may come cut anywhere, and what follows are frames`() throws {
        let bytes = Array(answer().utf8) + [0x81, 0x01, 0x41]
        for cut in 0...bytes.count {
            var handshake = try self.handshake()
            var agreement: ClientHandshake.Agreement?
            var rest = 0
            for piece in [bytes[..<cut], bytes[cut...]] {
                guard agreement == nil else {
                    rest += piece.count
                    continue
                }
                let piece = Array(piece)
                var offset = 0
                agreement = try handshake.read(piece.span, from: &offset)
                rest += piece.count - offset
            }
            #expect(agreement == ClientHandshake.Agreement())
            #expect(rest == 3)
        }
    }

    @Test func `names and tokens are taken in any case`() throws {
        let text = answer(
            upgrade: ["UPGRADE: WebSocket", "connection: keep-alive, UPGRADE"],
            accept: ["sec-websocket-accept:\t\(Self.accept)  "]
        )
        #expect(try outcome(of: text) == .success(ClientHandshake.Agreement()))
    }

    @Test func `interim answers are skipped`() throws {
        let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + answer()
        #expect(try outcome(of: text) == .success(ClientHandshake.Agreement()))
    }

    @Test(arguments: [
        ("HTTP/1.1 403 Forbidden", [], HandshakeFailure.status(403, retryAfter: nil)),
        ("HTTP/1.0 200 OK", [], .status(200, retryAfter: nil)),
        ("HTTP/1.1 300 Multiple Choices", ["Location: /"], .status(300, retryAfter: nil)),
        ("HTTP/1.1 304 Not Modified", ["Location: /"], .status(304, retryAfter: nil)),
        ("HTTP/1.1 503", ["Retry-After: 120"], .status(503, retryAfter: RetryAfterField("120"))),
        (
            "HTTP/1.1 503", ["date: today", "retry-after: tomorrow"],
            .status(503, retryAfter: RetryAfterField("tomorrow", date: "today"))
        ),
        ("HTTP/1.1 503", ["Retry-After: 1", "Retry-After: 2"], .status(503, retryAfter: nil)),
        ("HTTP/1.1 301 x", ["Location: /a"], .redirect(RedirectAnswer(status: 301, location: "/a"))),
        ("HTTP/1.1 302 x", ["Location: "], .redirect(RedirectAnswer(status: 302, location: ""))),
        ("HTTP/1.0 303 x", ["location: b"], .redirect(RedirectAnswer(status: 303, location: "b"))),
        ("HTTP/1.1 307 x", [], .redirect(RedirectAnswer(status: 307, location: nil))),
        (
            "HTTP/1.1 308 x", ["Location: a", "Location: b"],
            .redirect(RedirectAnswer(status: 308, location: nil))
        ),
        ("HTTP/1.0 101 Switching Protocols", [], .notHTTP), ("HTTP/1.1 1O1 x", [], .notHTTP),
        ("HTTP/1.1 0101 x", [], .notHTTP), ("HTTP/1.1", [], .notHTTP), ("HTTP/1.1 099 x", [], .notHTTP),
        ("HTTP/1.11 101 x", [], .notHTTP), ("HTTP/2 101 x", [], .notHTTP), ("SSH-2.0-OpenSSH", [], .notHTTP),
        ("HTTP/1.1 101 x", ["Broken"], .notHTTP), ("HTTP/1.1 101 x", ["A: b", " folded"], .notHTTP),
        ("HTTP/1.1 101 x", ["A : b"], .notHTTP), ("HTTP/1.1 101 x", [": b"], .notHTTP),
        ("HTTP/1.1 101 x", ["A: b\u{0}"], .notHTTP), ("HTTP/1.1 101 x", ["A: b\nC: d"], .notHTTP),
        ("HTTP/1.1 101 x", ["A: b\rC: d"], .notHTTP),
    ])
    func `an answer that is not a switch of protocols is refused`(
        status: String,
        lines: [String],
        expected: HandshakeFailure
    ) throws {
        let text = ([status, "Upgrade: websocket", "Connection: Upgrade"] + lines + ["", ""])
            .joined(separator: "\r\n")
        #expect(try outcome(of: text) == .failure(expected))
    }

    @Test func `another protocol is refused at its first byte`() throws {
        #expect(try outcome(of: "S") == .failure(.notHTTP))
        #expect(try outcome(of: "HTTP/") == .success(nil))
    }

    @Test(arguments: [
        [], ["Upgrade: websocket"], ["Connection: Upgrade"], ["Upgrade: h2c", "Connection: Upgrade"],
        ["Upgrade: websocket", "Connection: close"], ["Upgrade: websocket, h2c", "Connection: Upgrade"],
    ])
    func `an answer without the upgrade is refused`(upgrade: [String]) throws {
        #expect(try outcome(of: answer(upgrade: upgrade)) == .failure(.notUpgraded))
    }

    @Test(arguments: [
        [], ["Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOO="], ["Sec-WebSocket-Accept:"],
        ["Sec-WebSocket-Accept: \(accept)", "Sec-WebSocket-Accept: \(accept)"],
    ])
    func `a wrong, missing or repeated accept is refused`(accept: [String]) throws {
        #expect(try outcome(of: answer(accept: accept)) == .failure(.wrongAccept))
    }

    @Test func `an offered subprotocol is agreed on`() throws {
        let agreement = try outcome(of: answer("Sec-WebSocket-Protocol: b")) { $0.subprotocols = ["a", "b"] }
        #expect(agreement == .success(ClientHandshake.Agreement(subprotocol: "b")))
    }

    @Test(arguments: [
        ["Sec-WebSocket-Protocol: c"], ["Sec-WebSocket-Protocol: a, b"], ["Sec-WebSocket-Protocol: A"],
    ])
    func `a subprotocol that was not offered is refused`(lines: [String]) throws {
        for line in lines {
            let outcome = try outcome(of: answer(line)) { $0.subprotocols = ["a", "b"] }
            #expect(outcome == .failure(.subprotocolNotOffered))
        }
    }

    @Test func `a subprotocol can be required`() throws {
        let lenient = try outcome(of: answer()) { $0.subprotocols = ["a"] }
        #expect(lenient == .success(ClientHandshake.Agreement()))
        let strict = try outcome(of: answer()) { terms in
            terms.subprotocols = ["a"]
            terms.requiresSubprotocol = true
        }
        #expect(strict == .failure(.subprotocolMissing))
    }

    @Test(arguments: ["permessage-deflate", "x-webkit-deflate-frame", "permessage-deflate; a=", "\"x\""])
    func `an extension that was not offered is refused`(value: String) throws {
        #expect(
            try outcome(of: answer("Sec-WebSocket-Extensions: \(value)")) == .failure(.extensionNotOffered)
        )
    }

    @Test(arguments: ["permessage-deflate, permessage-deflate", "permessage-bzip2", "permessage-deflate; ;"])
    func `beside compression nothing else is accepted`(value: String) throws {
        let outcome = try outcome(of: answer("Sec-WebSocket-Extensions: \(value)")) {
            $0.compression = DeflateOffer()
        }
        #expect(outcome == .failure(.extensionNotOffered))
    }

    @Test func `an endless head is refused at the limit`() throws {
        let limit = ClientHandshake.maximumHeadBytes
        let fields = "X: " + String(repeating: "y", count: limit)
        #expect(try outcome(of: answer(fields)) == .failure(.headTooLarge(limit: limit)))
        let interim = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: limit / 25 + 2)
        #expect(try outcome(of: interim) == .failure(.headTooLarge(limit: limit)))
    }

    @Test func `every refusal has a sentence`() {
        let failures: [HandshakeFailure] = [
            .headTooLarge(limit: 5), .notHTTP, .status(403, retryAfter: nil), .notUpgraded,
            .wrongAccept,
            .subprotocolNotOffered, .subprotocolMissing, .extensionNotOffered, .invalidCompression,
            .invalidRequest("no Host"), .redirect(RedirectAnswer(status: 302, location: "/?s3cret")),
        ]
        let texts = Set(failures.map(\.description))
        #expect(texts.count == failures.count)
        #expect(texts.contains("the handshake was answered with HTTP status 403 instead of 101"))
        #expect(!"\(failures)".contains("s3cret"))
    }
}
