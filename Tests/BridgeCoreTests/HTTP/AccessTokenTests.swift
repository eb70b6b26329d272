import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `Access tokens` {
    private let tokens = [
        AccessToken(name: "all", secret: Secret("alpha")),
        AccessToken(name: "reader", secret: Secret("beta"), scopes: [.read]),
        AccessToken(
            name: "sender",
            secret: Secret("gamma"),
            scopes: [.send],
            connections: [NamePattern("a")]
        ),
        AccessToken(
            name: "operator",
            secret: Secret("delta"),
            scopes: [.admin, .read],
            connections: [NamePattern("b*")]
        ),
    ]

    private func admit(_ line: String, _ fields: [String]) -> Admission {
        gate { $0.tokens = tokens }.admit(
            request(line, fields: fields),
            connections: ["a", "b1", "b2", "default"]
        )
    }

    /// Who may do what: every token and none, on every kind of route.
    @Test(arguments: [
        ("GET /healthz", ["serve", "serve", "serve", "serve", "serve", "serve"]),
        ("OPTIONS /status", ["204", "204", "204", "204", "204", "204"]),
        ("GET /nothing", ["404", "404", "404", "404", "404", "404"]),
        ("PUT /status", ["405", "405", "405", "405", "405", "405"]),
        ("GET /v1/session", ["401", "401", "serve", "serve", "serve", "serve"]),
        ("POST /v1/session", ["401", "401", "serve", "serve", "serve", "serve"]),
        ("DELETE /v1/session", ["serve", "serve", "serve", "serve", "serve", "serve"]),
        ("GET /v1/connections", ["401", "401", "serve", "serve", "403", "serve"]),
        ("GET /v1/connections/a", ["401", "401", "serve", "serve", "403", "403"]),
        ("GET /v1/connections/b1/status", ["401", "401", "serve", "serve", "403", "serve"]),
        ("GET /v1/connections/b2/events", ["401", "401", "serve", "serve", "403", "serve"]),
        ("GET /events", ["401", "401", "serve", "serve", "403", "403"]),
        ("POST /v1/connections/a/messages", ["401", "401", "serve", "403", "serve", "403"]),
        ("POST /v1/connections/b1/messages", ["401", "401", "serve", "403", "403", "403"]),
        ("POST /v1/connections/a/connect", ["401", "401", "serve", "403", "403", "403"]),
        ("POST /v1/connections/b1/disconnect", ["401", "401", "serve", "403", "403", "serve"]),
        ("GET /readyz", ["serve", "serve", "serve", "serve", "serve", "serve"]),
        ("GET /metrics", ["401", "401", "serve", "serve", "403", "serve"]),
        ("GET /v1/connections/b1/outbox", ["401", "401", "serve", "serve", "403", "serve"]),
        ("DELETE /v1/connections/a/outbox", ["401", "401", "serve", "403", "403", "403"]),
        ("HEAD /v1/connections/b1/outbox/x", ["401", "401", "serve", "serve", "403", "serve"]),
        ("DELETE /v1/connections/b1/outbox/x", ["401", "401", "serve", "403", "403", "serve"]),
        ("POST /v1/connections/b1/pause", ["401", "401", "serve", "403", "403", "serve"]),
        ("GET /v1/connections/nobody", ["401", "401", "404", "404", "403", "403"]),
        ("GET /v1/connections/b-nobody", ["401", "401", "404", "404", "403", "404"]),
    ])
    func `allow what their scopes and connections say`(line: String, expected: [String]) {
        let presented = [nil, "wrong", "alpha", "beta", "gamma", "delta"]
        let outcomes = presented.map { token in
            let summary = admit(line, token.map { ["Authorization: Bearer \($0)"] } ?? []).summary
            return String(summary.prefix { $0 != " " })
        }
        #expect(outcomes == expected)
    }

    @Test(arguments: [
        ("GET /status", ["Authorization: Bearer alpha"], "serve"),
        ("GET /status", ["Authorization: bearer alpha"], "serve"),
        ("GET /status", ["Authorization: BEARER   alpha"], "serve"),
        ("GET /status?access_token=alpha", [], "serve"),
        ("GET /events?access_token=%61lpha&limit=1", [], "serve"),
        ("GET /status?access_token=alpha", ["Authorization: Basic eDp5"], "serve"),
        ("GET /status", ["Authorization: Basic eDp5"], "401 unauthorized"),
        ("GET /status", ["Authorization: Bearer alpha", "Authorization: Basic eDp5"], "401 unauthorized"),
        ("GET /status", ["Authorization: Bearer alpha", "Authorization: Bearer alpha"], "401 unauthorized"),
        ("GET /status", ["Authorization: alpha"], "401 unauthorized"),
        ("GET /status", ["Authorization: Bearer"], "401 unauthorized"),
        ("GET /status", ["Authorization: Bearer "], "401 unauthorized"),
        ("GET /status", ["Authorization: Bearer alph"], "401 unauthorized"),
        ("GET /status", ["Authorization: Bearer alphaa"], "401 unauthorized"),
        ("GET /status", ["Authorization: Bearer Alpha"], "401 unauthorized"),
        ("GET /status", ["Authorization: Bearer alpha beta"], "401 unauthorized"),
        ("GET /status?access_token=", [], "401 unauthorized"),
        ("GET /status?access_token=alpha", ["Authorization: Bearer wrong"], "401 unauthorized"),
        ("GET /status?access_token=wrong&access_token=alpha", [], "401 unauthorized"),
    ])
    func `come as a bearer or in the query`(line: String, fields: [String], expected: String) {
        #expect(admit(line, fields).summary == expected)
    }

    @Test(arguments: [
        ([], "Bearer realm=\"wsbridge\"", "send"),
        (["Authorization: Bearer wrong"], "error=\"invalid_token\"", "not known"),
        (["Authorization: Basic eDp5"], "error=\"invalid_request\"", "only"),
    ])
    func `that are missing or wrong get a challenge and a reason`(
        fields: [String],
        challenge: String,
        reason: String
    ) throws {
        let admission = admit("GET /status", fields)
        let field = try #require(admission.field("WWW-Authenticate"))
        #expect(field.hasPrefix("Bearer ") && field.contains(challenge))
        #expect(!field.utf8.contains { $0 < 0x20 })
        #expect(admission.response?.text.contains(reason) == true)
    }

    @Test func `never show in an answer`() throws {
        let lines = [
            "GET /status?access_token=s3cret", "GET /nothing?access_token=s3cret",
            "PUT /status?access_token=s3cret",
        ]
        for line in lines {
            let response = try #require(admit(line, ["Authorization: Bearer s3cret"]).response)
            #expect(!response.text.contains("s3cret"))
            #expect(!response.fields.contains { $0.value.contains("s3cret") })
        }
    }

    @Test func `never show in a description`() {
        let token = AccessToken(name: "ops", secret: Secret("s3cret"))
        var settings = HTTPSettings()
        settings.tokens = [token]
        var dumped = ""
        dump(settings, to: &dumped)
        let texts = ["\(token)", String(reflecting: token), "\(settings)", "\(Caller.token(token))", dumped]
        #expect(!texts.contains { $0.contains("s3cret") })
        #expect(dumped.contains("[secret]"))
    }

    @Test func `that none is configured lets everyone do everything`() {
        let gate = gate()
        for line in ["GET /status", "POST /messages", "POST /connect"] {
            let admission = gate.admit(request(line, "Authorization: Bearer wrong"), connections: ["default"])
            #expect(admission.summary == "serve")
        }
    }

    @Test func `name who called`() throws {
        guard case .serve(let admitted) = admit("GET /status", ["Authorization: Bearer alpha"]) else {
            Issue.record("the request was refused")
            return
        }
        #expect(admitted.caller == .token(tokens[0]))
        #expect(admitted.caller.covers(connection: "anything"))
    }

    @Test func `see only the connections they cover where a path is ambiguous`() throws {
        let gate = gate { $0.tokens = tokens }
        let admission = gate.admit(
            request("GET /status", "Authorization: Bearer delta"),
            connections: ["a", "b1", "b2"]
        )
        let response = try #require(admission.response)
        #expect(admission.summary == "404 ambiguous-connection")
        #expect(response.text.contains("b1, b2") && !response.text.contains(": a"))
    }
}

@Suite struct `Name patterns` {
    @Test(arguments: [
        ("a", "a", true), ("a", "A", false), ("a", "ab", false), ("", "", true), ("", "a", false),
        ("*", "", true),
        ("*", "anything", true), ("a*", "a", true), ("a*", "abc", true), ("a*", "ba", false),
        ("*a", "bba", true),
        ("*a", "ab", false), ("a*c", "abcbc", true), ("a*c", "abcb", false), ("a?c", "abc", true),
        ("a?c", "ac", false),
        ("**", "a", true), ("*a*b*", "xaxbx", true), ("*a*b*", "xbxax", false), ("?", "", false),
        ("a.b", "axb", false),
    ])
    func `match whole names`(pattern: String, name: String, expected: Bool) {
        #expect(NamePattern(pattern).matches(name) == expected)
    }

    @Test func `take polynomial time for many stars`() {
        let pattern = NamePattern(String(repeating: "*a", count: 30) + "b")
        #expect(!pattern.matches(String(repeating: "a", count: 64)))
    }
}

@Suite struct Secrets {
    @Test(arguments: [
        ("abc", "abc", true), ("abc", "abd", false), ("abc", "ab", false), ("abc", "abcd", false),
        ("abc", "", false),
        ("", "", true), ("", "a", false), ("abc", "abc\u{0}", false),
    ])
    func `match themselves alone`(secret: String, presented: String, expected: Bool) {
        #expect(Secret(secret).matches(Array(presented.utf8)) == expected)
    }

    @Test(arguments: 0..<40) func `are compared to their last byte`(place: Int) {
        let secret = [UInt8](repeating: UInt8(ascii: "a"), count: 40)
        var presented = secret
        presented[place] = UInt8(ascii: "b")
        let kept = Secret(String(decoding: secret, as: UTF8.self))
        #expect(kept.matches(secret))
        #expect(!kept.matches(presented))
        #expect(kept != Secret(String(decoding: presented, as: UTF8.self)))
    }

    @Test func `of zeros do not match what is shorter`() {
        #expect(!Secret("a\u{0}\u{0}").matches(Array("a".utf8)))
    }
}
