import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct Problems {
    @Test func `are problem documents`() {
        let response = HTTPResponse(.invalidParameter("a\"b", "no\nway"))
        #expect(response.status == 400)
        #expect(response.fields.contains(HTTPField("Content-Type", "application/problem+json")))
        let expected =
            #"{"type":"urn:wsbridge:problem:invalid-parameter","title":"Invalid parameter","status":400,"#
            + #""detail":"`a\"b`: no\nway"}"# + "\n"
        #expect(response.text == expected)
    }

    @Test(
        arguments: [
            ("plain ~", "plain ~"), ("", ""), ("no\nway", "no?way"), ("\u{7F}", "?"), ("\u{9B}", "?"),
            ("a\u{200B}b\u{FEFF}", "a?b?"), ("größe", "größe"), (String(repeating: "x", count: 64), nil),
            (String(repeating: "x", count: 65), String(repeating: "x", count: 64) + "..."),
            (String(repeating: "ö", count: 64), nil),
            (String(repeating: "ö", count: 65), String(repeating: "ö", count: 64) + "..."),
        ] as [(String, String?)]
    )
    func `repeat names short and plain`(name: String, shown: String?) {
        #expect(Problem.invalidParameter(name, "").detail == "`\(shown ?? name)`: ")
    }

    @Test(arguments: ProblemKind.allCases)
    func `have a slug, a title and a status of errors`(kind: ProblemKind) {
        #expect(
            kind.rawValue.utf8.allSatisfy {
                $0 == UInt8(ascii: "-") || ($0 >= 0x61 && $0 <= 0x7A) || $0 == 0x38
            }
        )
        #expect(!kind.title.isEmpty)
        #expect((400...599).contains(kind.status))
        let response = HTTPResponse(Problem(kind, "x"))
        #expect(response.slug == kind.rawValue)
        #expect(response.status == kind.status)
    }

    @Test(arguments: [
        (Duration.zero, "0"), (.milliseconds(1), "1"), (.seconds(2), "2"), (.milliseconds(2001), "3"),
        (.seconds(-5), "0"),
        (.milliseconds(-1), "0"),
    ])
    func `round Retry-After up`(delay: Duration, expected: String) {
        let problems = [
            Problem.upstreamUnavailable("x", retryAfter: delay), .outboxFull("x", retryAfter: delay),
            .tooManySubscribers(limit: 1, retryAfter: delay),
        ]
        for problem in problems {
            #expect(HTTPResponse(problem).fields.contains(HTTPField("Retry-After", expected)))
        }
    }

    @Test func `repeat no more of what a client sent than helps`() throws {
        let name = String(repeating: "a", count: 500)
        let admission = gate().admit(request("GET /status?\(name)"), connections: ["default"])
        let response = try #require(admission.response)
        #expect(response.text.utf8.count < 400)
    }

    @Test func `repeat no control characters and nothing invisible`() throws {
        let response = HTTPResponse(.invalidParameter("a\u{1B}[31m\n\u{202E}\u{200B}b", "x"))
        #expect(response.text.contains("`a?[31m???b`: x"))
    }

    @Test(arguments: ["GET /nothing", "OPTIONS /status", "GET /status?x", "PUT /status"])
    func `and other answers are neither cached nor guessed at`(line: String) {
        let admission = gate().admit(request(line), connections: ["default"])
        #expect(admission.field("Cache-Control") == "no-store")
        #expect(admission.field("X-Content-Type-Options") == "nosniff")
        #expect(admission.field("Vary") == "Origin")
    }
}

@Suite struct `Request gate` {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `never traps, and serves only what was admitted`(seed: UInt64) {
        var input = RandomInput(seed: seed)
        let gate = gate { $0.tokens = [AccessToken(name: "t", secret: Secret("right"))] }
        let targets = [
            "/status", "/events", "?", "since=", "limit=", "1", "%", "access_token=right", "&",
            "/v1/connections",
        ]
        let names = [
            "Host", "Origin", "Authorization", "Content-Length", "Transfer-Encoding", "Last-Event-ID",
            "Sec-Fetch-Site",
        ]
        let values = [
            "127.0.0.1", "[::1]", ":80", "http://", "Bearer ", "right", "chunked", "cross-site", "1", ",",
            "é",
        ]
        for _ in 0..<200 {
            let fields = (0..<input.number(below: 5)).map { _ in
                HTTPField(names[input.number(below: names.count)], input.text(of: values))
            }
            let head = RequestHead(
                method: ["GET", "POST", "OPTIONS", "HEAD", ""][input.number(below: 5)],
                target: input.bytes(of: targets),
                version: input.number(below: 2) == 0 ? .http10 : .http11,
                fields: fields,
                client: input.number(below: 2) == 0 ? .unix : .ip("192.0.2.1")
            )
            guard case .serve(let admitted) = gate.admit(head, connections: ["default"]) else { continue }
            let isOpen = admitted.route == .health || admitted.route == .readiness
            #expect(isOpen || admitted.caller != .anonymous)
        }
    }
}
