import Testing
import WebSocketProtocol

@Suite struct `Server handshake` {
    private static let lines = [
        "GET /chat?x=1 HTTP/1.1", "Host: server.example.com", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
    ]

    private func read(_ lines: [String]) throws -> ServerHandshake.Request? {
        let bytes = Array((lines + ["", ""]).joined(separator: "\r\n").utf8)
        var handshake = ServerHandshake()
        var offset = 0
        return try handshake.read(bytes.span, from: &offset)
    }

    @Test func `a request is read`() throws {
        let offers = "Sec-WebSocket-Extensions: x, permessage-deflate; client_max_window_bits"
        let request = try #require(try read(Self.lines + ["Sec-WebSocket-Protocol: a, b", offers]))
        #expect(request.target == "/chat?x=1")
        #expect(request.key == "dGhlIHNhbXBsZSBub25jZQ==")
        #expect(request.subprotocols == ["a", "b"])
        #expect(request.compression == DeflateOffer())
    }

    @Test func `what our client asks, our server understands`() throws {
        var terms = ClientHandshake.Terms(url: try WebSocketURL("ws://h:9/p?q"))
        terms.subprotocols = ["s"]
        terms.compression = DeflateOffer()
        var client = try ClientHandshake(terms, key: "dGhlIHNhbXBsZSBub25jZQ==", accept: "right")
        var server = ServerHandshake()
        var offset = 0
        let request = try #require(try server.read(client.request.span, from: &offset))
        #expect(offset == client.request.count)
        let parameters = try #require(request.compression).accepted
        let response = ServerHandshake.response(accept: "right", subprotocol: "s", compression: parameters)
        offset = 0
        let agreement = try client.read(response.span, from: &offset)
        #expect(agreement == ClientHandshake.Agreement(subprotocol: "s", compression: parameters))
        #expect(offset == response.count)
    }

    @Test(arguments: [
        (0, "GET chat HTTP/1.1", "not a GET of HTTP/1.1"), (0, "GET / HTTP/1.0", "not a GET of HTTP/1.1"),
        (0, "POST / HTTP/1.1", "not a GET of HTTP/1.1"), (1, "X: y", "no Host"),
        (2, "Upgrade: h2c", "no upgrade to WebSocket"), (3, "Connection: close", "no upgrade to WebSocket"),
        (4, "Sec-WebSocket-Key: short==", "invalid Sec-WebSocket-Key"),
        (5, "Sec-WebSocket-Version: 8", "Sec-WebSocket-Version is not 13"),
    ])
    func `a request that is no handshake is refused`(index: Int, line: String, reason: String) throws {
        var lines = Self.lines
        lines[index] = line
        let error = #expect(throws: HandshakeFailure.self) { try read(lines) }
        #expect(error?.description == reason)
    }

    @Test func `an endless request is refused at the limit`() throws {
        let bytes = Array(("GET /" + String(repeating: "x", count: 100)).utf8)
        #expect(throws: HandshakeFailure.headTooLarge(limit: 64)) {
            var handshake = ServerHandshake(maximumHeadBytes: 64)
            var offset = 0
            _ = try handshake.read(bytes.span, from: &offset)
        }
    }
}
