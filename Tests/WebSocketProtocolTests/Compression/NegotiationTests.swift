import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// RFC 7692 §7.1: what each side may offer and answer.
@Suite struct `Negotiation of compression` {
    private func agreed(_ answer: String, to offer: DeflateOffer = DeflateOffer()) throws
        -> DeflateParameters?
    {
        var terms = ClientHandshake.Terms(url: try WebSocketURL("ws://h"))
        terms.compression = offer
        var handshake = try ClientHandshake(terms, key: "k", accept: "a")
        let lines = [
            "HTTP/1.1 101 x", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: a",
            "Sec-WebSocket-Extensions: \(answer)", "", "",
        ]
        let bytes = Array(lines.joined(separator: "\r\n").utf8)
        var offset = 0
        return try handshake.read(bytes.span, from: &offset)?.compression
    }

    @Test(arguments: [
        ("permessage-deflate", DeflateParameters.agreed()),
        ("Permessage-Deflate; SERVER_no_context_takeover", DeflateParameters.agreed(serverFresh: true)),
        ("permessage-deflate;client_no_context_takeover", DeflateParameters.agreed(clientFresh: true)),
        ("permessage-deflate; server_max_window_bits=8", DeflateParameters.agreed(server: 8)),
        ("permessage-deflate; client_max_window_bits=\"9\" , ", DeflateParameters.agreed(client: 9)),
        (
            "permessage-deflate; client_max_window_bits=8; server_no_context_takeover; server_max_window_bits=10",
            DeflateParameters.agreed(server: 10, client: 8, serverFresh: true)
        ),
    ])
    func `an answer is agreed on`(answer: String, expected: DeflateParameters) throws {
        #expect(try agreed(answer) == expected)
    }

    @Test(arguments: [
        "server_no_context_takeover=1", "server_max_window_bits", "server_max_window_bits=7",
        "server_max_window_bits=16", "server_max_window_bits=09", "server_max_window_bits=+9",
        "client_max_window_bits", "client_max_window_bits=x", "unknown", "unknown=1",
        "client_max_window_bits=9; client_max_window_bits=9",
        "server_no_context_takeover; server_no_context_takeover",
    ])
    func `an answer that the RFC does not allow is refused`(parameter: String) {
        #expect(throws: HandshakeFailure.invalidCompression) {
            try agreed("permessage-deflate; \(parameter)")
        }
    }

    @Test func `what was asked for must be granted`() throws {
        var offer = DeflateOffer()
        offer.serverNoContextTakeover = true
        offer.serverMaxWindowBits = 10
        let granted = "permessage-deflate; server_no_context_takeover; server_max_window_bits=9"
        #expect(try agreed(granted, to: offer) == DeflateParameters.agreed(server: 9, serverFresh: true))
        for answer in [
            "permessage-deflate; server_max_window_bits=10", "permessage-deflate; server_no_context_takeover",
            "permessage-deflate; server_no_context_takeover; server_max_window_bits=11",
        ] {
            #expect(throws: HandshakeFailure.invalidCompression) { try agreed(answer, to: offer) }
        }
    }

    @Test func `the client's window is limited only if it said that it can be`() {
        var offer = DeflateOffer()
        offer.clientMaxWindowBits = .unlimited
        #expect(throws: HandshakeFailure.invalidCompression) {
            try agreed("permessage-deflate; client_max_window_bits=12", to: offer)
        }
    }

    @Test func `the client keeps to its own hints`() throws {
        var offer = DeflateOffer()
        offer.clientNoContextTakeover = true
        offer.clientMaxWindowBits = .limited(10)
        #expect(
            try agreed("permessage-deflate", to: offer)
                == DeflateParameters.agreed(client: 10, clientFresh: true)
        )
    }

    @Test(arguments: [
        "permessage-deflate", "permessage-deflate; client_max_window_bits",
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
        "permessage-deflate; server_max_window_bits=9; client_max_window_bits=12",
    ])
    func `an offer that a server reads is the offer that was written`(value: String) throws {
        let lines = [
            "GET / HTTP/1.1", "Host: h", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Extensions: permessage-deflate; bad, \(value)", "", "",
        ]
        let bytes = Array(lines.joined(separator: "\r\n").utf8)
        var handshake = ServerHandshake()
        var offset = 0
        let offer = try #require(try handshake.read(bytes.span, from: &offset)?.compression)
        #expect(offer.requestValue == value)
        // What the server accepts is an answer that the client takes.
        #expect(try agreed(offer.accepted.responseValue, to: offer) == offer.accepted)
    }
}
