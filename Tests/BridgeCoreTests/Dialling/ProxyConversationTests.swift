import BridgeCore
import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// What was said to a proxy, and how it ended, for input that comes in these pieces.
private struct Talk: Equatable {
    var said: [[UInt8]] = []
    var isEstablished = false
    var refusal: String?
    /// What the proxy sent that is the destination's.
    var rest: [UInt8] = []

    init(_ proxy: String, to host: String = "example.org", port: UInt16 = 443, hears pieces: [[UInt8]]) throws
    {
        var conversation = ProxyConversation(
            with: try ProxyURL(proxy),
            to: Destination(host: host, port: port)
        )
        said = [conversation.opening]
        for piece in pieces {
            var offset = 0
            if isEstablished { rest += piece }
            while !isEstablished, refusal == nil {
                do throws(ProxyRefusal) {
                    let progress = try conversation.read(piece.span, from: &offset)
                    if progress == .waiting { break }
                    switch progress {
                    case .waiting: break
                    case .say(let words): said.append(words)
                    case .established:
                        isEstablished = true
                        rest += piece[offset...]
                    }
                } catch {
                    refusal = error.text
                }
            }
        }
    }

    /// The same for every way to cut the input in two, and for single bytes.
    static func inEverySplit(
        _ proxy: String,
        to host: String = "example.org",
        port: UInt16 = 443,
        hears input: [UInt8]
    ) throws -> Talk {
        let whole = try Talk(proxy, to: host, port: port, hears: [input])
        for cut in 0...input.count {
            let pieces = [Array(input[..<cut]), Array(input[cut...])]
            #expect(try Talk(proxy, to: host, port: port, hears: pieces) == whole, "cut at \(cut)")
        }
        #expect(try Talk(proxy, to: host, port: port, hears: input.map { [$0] }) == whole)
        return whole
    }
}

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

@Suite struct `A conversation with an HTTP proxy` {
    @Test(
        arguments: [
            ("example.org", 443, "example.org:443"), ("192.0.2.1", 80, "192.0.2.1:80"), ("::1", 9, "[::1]:9"),
        ] as [(String, UInt16, String)]
    )
    func `asks for a tunnel to the host`(host: String, port: UInt16, authority: String) throws {
        let talk = try Talk("http://p:1", to: host, port: port, hears: [])
        #expect(talk.said == [bytes("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")])
    }

    @Test func `logs in with Basic`() throws {
        let talk = try Talk("http://us%65r:p%40ss%3A@p:1", hears: [])
        let request = String(decoding: talk.said[0], as: UTF8.self)
        #expect(request.hasSuffix("\r\nProxy-Authorization: Basic dXNlcjpwQHNzOg==\r\n\r\n"))
    }

    @Test(arguments: [
        "HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.0 200 OK\r\nProxy-agent: x\r\n\r\n",
        "HTTP/1.1 204 x\r\n\r\n", "HTTP/1.1 200 x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    ])
    func `is over with a 2xx, and what follows belongs to the tunnel`(answer: String) throws {
        let talk = try Talk.inEverySplit("http://p:1", hears: bytes(answer + "HELLO"))
        #expect(talk.isEstablished)
        #expect(talk.rest == bytes("HELLO"))
        #expect(talk.said.count == 1)
    }

    @Test(
        arguments: [
            ("http://p:1", 407, "; it wants a user name and a password (http://user:password@host:port)"),
            (
                "http://u:p@p:1", 407,
                "; it does not accept the user name and the password, or wants another way than Basic"
            ),
            ("http://p:1", 403, ""), ("http://p:1", 502, ""), ("http://p:1", 302, ""),
        ] as [(String, Int, String)]
    )
    func `fails with the status of any other answer`(proxy: String, status: Int, hint: String) throws {
        var conversation = ProxyConversation(with: try ProxyURL(proxy), to: Destination(host: "h", port: 1))
        let answer = bytes("HTTP/1.1 \(status) No\r\nRetry-After: 7\r\nX: secret\r\n\r\nbody")
        let refusal = #expect(throws: ProxyRefusal.self) {
            var offset = 0
            _ = try conversation.read(answer.span, from: &offset)
        }
        let failure = DialFailure(
            try #require(refusal),
            by: try ProxyURL(proxy),
            at: WallTime(millisecondsSince1970: 0)
        )
        let expected = DialFailure(
            phase: .proxy,
            status: status,
            retryAfter: .seconds(7),
            error: "the proxy http://p:1 answered CONNECT with HTTP status \(status)\(hint)"
        )
        #expect(failure == expected)
        #expect(try Talk.inEverySplit(proxy, hears: answer).refusal == refusal?.text)
    }

    @Test(arguments: [
        "SSH-2.0-x\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\n\n\r\n\r\n", "\u{0}",
    ])
    func `fails when the answer is not HTTP`(answer: String) throws {
        let talk = try Talk.inEverySplit("http://p:1", hears: bytes(answer))
        #expect(talk.refusal == "answered CONNECT with something that is not HTTP/1")
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 16_384), endlessInterim])
    func `does not read heads without an end`(answer: String) throws {
        let talk = try Talk("http://p:1", hears: [bytes(answer)])
        #expect(talk.refusal == "answered CONNECT with a head of more than 16384 bytes")
    }

    private static let endlessInterim = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 1000)
}

@Suite struct `A conversation with a SOCKS proxy` {
    private static let established: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    private static let named: [UInt8] = [5, 1, 0, 3, 11] + bytes("example.org") + [1, 187]

    @Test(
        arguments: [
            ("example.org", [3, 11] + bytes("example.org")), ("192.0.2.1", [1, 192, 0, 2, 1]),
            ("2001:db8::102", [4, 0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]),
        ] as [(String, [UInt8])]
    )
    func `asks for the host by name or by address`(host: String, address: [UInt8]) throws {
        let input = [5, 0] + Self.established
        let talk = try Talk.inEverySplit("socks5h://p", to: host, port: 0x1234, hears: input)
        #expect(talk.said == [[5, 1, 0], [5, 1, 0] + address + [0x12, 0x34]])
        #expect(talk.isEstablished)
    }

    @Test(
        arguments: [
            established, [5, 0, 0, 3, 4] + bytes("name") + [1, 2], [5, 0, 0, 3, 0, 1, 2],
            [5, 0, 9, 4] + [UInt8](repeating: 7, count: 18),
        ] as [[UInt8]]
    )
    func `takes any bound address, and what follows belongs to the tunnel`(reply: [UInt8]) throws {
        let talk = try Talk.inEverySplit("socks5://p", hears: [5, 0] + reply + bytes("HELLO"))
        #expect(talk.isEstablished)
        #expect(talk.rest == bytes("HELLO"))
    }

    @Test func `logs in when the proxy wants that`() throws {
        let input = [5, 2, 1, 0] + Self.established
        let talk = try Talk.inEverySplit("socks5h://us%65r:pass@p", hears: input)
        #expect(talk.said == [[5, 2, 0, 2], [1, 4] + bytes("user") + [4] + bytes("pass"), Self.named])
        #expect(talk.isEstablished)
    }

    @Test func `does not log in when the proxy does not ask`() throws {
        let talk = try Talk.inEverySplit("socks5h://user:pass@p", hears: [5, 0] + Self.established)
        #expect(talk.said == [[5, 2, 0, 2], Self.named])
        #expect(talk.isEstablished)
    }

    @Test(
        arguments: [
            ("socks5h://p", [5, 2], "wants a user name and a password (socks5h://user:password@host:port)"),
            (
                "socks5h://p", [5, 255],
                "lets nobody in without logging in (socks5h://user:password@host:port)"
            ),
            ("socks5h://u:p@p", [5, 255], "accepts neither a user name and a password nor no login"),
            ("socks5h://u:p@p", [5, 1], "chose a way to log in that was not offered"),
            ("socks5h://u:p@p", [5, 2, 1, 1], "does not accept the user name and the password"),
            ("socks5h://u:p@p", [5, 2, 5, 0], "does not speak SOCKS 5"),
            ("socks5h://p", [4, 0], "does not speak SOCKS 5"),
            ("socks5h://p", bytes("HTTP/1.1 400 Bad Request\r\n"), "does not speak SOCKS 5"),
            ("socks5h://p", [5, 0, 4, 0], "does not speak SOCKS 5"),
            ("socks5h://p", [5, 0, 5, 0, 0, 2, 1], "answered with an address of an unknown type"),
        ] as [(String, [UInt8], String)]
    )
    func `fails in words`(proxy: String, input: [UInt8], text: String) throws {
        #expect(try Talk.inEverySplit(proxy, hears: input).refusal == text)
    }

    @Test(
        arguments: [
            (1, "has a general failure", true), (2, "does not allow this connection by its rules", false),
            (3, "cannot reach the upstream's network", true), (4, "cannot reach the upstream's host", true),
            (5, "says that the upstream refused the connection", true),
            (6, "says that the upstream is too far away (TTL expired)", true),
            (7, "does not know the command to connect", false),
            (8, "does not know this type of address", true),
            (9, "refuses for an unknown reason", false), (255, "refuses for an unknown reason", false),
        ] as [(UInt8, String, Bool)]
    )
    func `tells every reply code in words`(code: UInt8, text: String, concernsAddress: Bool) throws {
        var conversation = ProxyConversation(
            with: try ProxyURL("socks5://p"),
            to: Destination(host: "h", port: 1)
        )
        let input: [UInt8] = [5, 0, 5, code, 0, 1, 0, 0, 0, 0, 0, 0]
        let refusal = #expect(throws: ProxyRefusal.self) {
            var offset = 0
            while try conversation.read(input.span, from: &offset) != .waiting {}
        }
        #expect(refusal?.text == "\(text) (SOCKS reply \(code))")
        #expect(refusal?.concernsAddress == concernsAddress)
        #expect(refusal?.status == nil)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `takes any bytes without a trap, alike in every split`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let starts: [[UInt8]] = [
            [], [5, 0], [5, 2], [5, 2, 1, 0], [5, 0, 5, 0, 0, 3], [5, 0, 5, 0, 0, 4],
        ]
        var input = starts[Int.random(in: 0..<starts.count, using: &random)]
        for _ in 0..<Int.random(in: 0..<24, using: &random) {
            input.append(UInt8.random(in: 0...255, using: &random) & (Bool.random(using: &random) ? 7 : 255))
        }
        _ = try Talk.inEverySplit("socks5://u:p@h", hears: input)
    }
}
