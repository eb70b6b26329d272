import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct Routes {
    private func admit(_ line: String, _ connections: [String] = ["default"]) -> Admission {
        gate().admit(request(line), connections: connections)
    }

    @Test(arguments: [
        ("GET /healthz", Route.health),
        ("GET /readyz", .readiness), ("GET /metrics", .metrics), ("HEAD /metrics", .metrics),
        ("GET /outbox", .outbox(connection: "default")),
        ("DELETE /v1/connections/a/outbox", .dropOutbox(connection: "a")),
        ("GET /outbox/e-m1", .message(connection: "default", message: "e-m1")),
        ("GET /v1/connections/a/outbox/%C3%A9", .message(connection: "a", message: "é")),
        ("DELETE /v1/connections/a/outbox/e-m1", .dropMessage(connection: "a", message: "e-m1")),
        ("POST /reconnect", .reconnect(connection: "default")),
        ("POST /v1/connections/a/pause", .pause(connection: "a")),
        ("POST /resume", .resume(connection: "default")),
        ("GET /v1/connections", .connectionList),
        ("GET /v1/connections/a", .status(connection: "a")),
        ("GET /v1/connections/a/status", .status(connection: "a")),
        ("GET /v1/connections/%61/status", .status(connection: "a")),
        ("GET http://localhost:8080/status", .status(connection: "default")),
        ("GET /status", .status(connection: "default")),
        ("GET /status?access_token=x", .status(connection: "default")),
        ("GET /subscribers", .subscribers(connection: "default")),
        ("GET /v1/connections/a/subscribers", .subscribers(connection: "a")),
        ("POST /connect", .connect(connection: "default")),
        ("POST /v1/connections/a/connect", .connect(connection: "a")),
        ("POST /disconnect", .disconnect(connection: "default")),
        ("POST /v1/connections/default/disconnect", .disconnect(connection: "default")),
        ("POST /messages", .send(connection: "default", SendRequest(.message(.text)))),
        (
            "POST /v1/connections/a/messages?type=binary",
            .send(connection: "a", SendRequest(.message(.binary)))
        ),
    ])
    func `lead to the work that was asked for`(line: String, route: Route) {
        #expect(admit(line, ["a", "default"]).route == route)
    }

    @Test(
        arguments: [
            ("PUT /v1/connections/new", .put(connection: "new")),
            ("PUT /v1/connections/%61", .put(connection: "a")),
            ("DELETE /v1/connections/a", .remove(connection: "a")),
            ("GET /v1/connections/a", .status(connection: "a")),
        ] as [(String, Route)]
    )
    func `make and remove connections where that is allowed`(line: String, route: Route) {
        let dynamic = gate { $0.dynamicConnections = true }
        #expect(dynamic.admit(request(line), connections: ["a"]).route == route)
    }

    @Test(arguments: [
        ("PUT /v1/connections/a%20b", "400 invalid-parameter"),
        ("PUT /v1/connections/..", "400 invalid-target"),
        ("PUT /v1/connections/\(String(repeating: "n", count: 65))", "400 invalid-parameter"),
        ("PUT /v1/connections/a?x=1", "400 invalid-parameter"),
        ("DELETE /v1/connections/b", "404 not-found"),
        ("PUT /status", "405 method-not-allowed"),
        ("PUT /v1/connections/a/status", "405 method-not-allowed"),
        ("PUT /v1/connections", "405 method-not-allowed"),
        ("DELETE /v1/connections", "405 method-not-allowed"),
    ])
    func `of connections that cannot be made or removed are refused`(line: String, outcome: String) {
        let dynamic = gate { $0.dynamicConnections = true }
        #expect(dynamic.admit(request(line), connections: ["a"]).summary == outcome)
    }

    @Test(arguments: ["PUT", "DELETE"])
    func `that only the file may take are refused with the setting`(method: String) throws {
        let response = try #require(admit("\(method) /v1/connections/a", ["a"]).response)
        #expect(response.status == 405)
        #expect(response.fields.contains(HTTPField("Allow", "GET, HEAD, OPTIONS")))
        #expect(response.text.contains("http.dynamicConnections"))
    }

    @Test(arguments: [
        ("PUT /v1/connections/feed-1", "serve"), ("PUT /v1/connections/other", "403 forbidden"),
        ("DELETE /v1/connections/other", "403 forbidden"), ("PUT /v1/connections/a%20b", "403 forbidden"),
    ])
    func `of connections that a token does not cover are refused`(line: String, outcome: String) {
        let dynamic = gate {
            $0.dynamicConnections = true
            let names = [NamePattern("feed-*")]
            $0.tokens = [AccessToken(name: "t", secret: Secret("s"), scopes: [.admin], connections: names)]
        }
        let head = request(line, "Authorization: Bearer s")
        #expect(dynamic.admit(head, connections: ["other"]).summary == outcome)
    }

    @Test(arguments: [
        (["only"], "serve"), (["a", "default"], "serve"), (["a", "b"], "404 ambiguous-connection"),
        ([], "404 not-found"),
    ])
    func `without a name lead to the only connection or the default one`(
        connections: [String],
        outcome: String
    ) {
        #expect(admit("GET /status", connections).summary == outcome)
    }

    @Test func `that are ambiguous name the connections`() throws {
        let response = try #require(admit("GET /status", ["zeta", "alpha"]).response)
        #expect(response.text.contains("alpha, zeta"))
    }

    @Test(arguments: [
        "GET /", "GET /nothing", "GET /v1", "GET /v1/", "GET /v1/connections/", "GET /v1/connections/b",
        "GET /v1/connections/b/status", "POST /v1/connections/b/messages",
        "GET /v1/connections/default/nothing",
        "GET /v1/connections/default/status/", "GET /status/", "GET //status", "GET /Status",
        "GET /healthz/x", "GET /readyz/", "GET /status/x", "GET /outbox/a/b",
        "GET /v1/connections/default/outbox/a/b", "GET /v1/connections/b/outbox",
        "DELETE /nothing", "OPTIONS /nothing", "GET /v1/connections/a%2Fb",
        "GET /v1/connections/default%2Fstatus",
    ])
    func `that lead nowhere are not found`(line: String) {
        #expect(admit(line).summary == "404 not-found")
    }

    @Test(arguments: [
        ("POST /healthz", "GET, HEAD, OPTIONS"), ("DELETE /v1/connections", "GET, HEAD, OPTIONS"),
        ("PUT /v1/connections/default", "GET, HEAD, OPTIONS"), ("POST /events", "GET, HEAD, OPTIONS"),
        ("POST /status", "GET, HEAD, OPTIONS"), ("PUT /messages", "GET, HEAD, POST, OPTIONS"),
        ("POST /subscribers", "GET, HEAD, OPTIONS"), ("POST /v1/events", "GET, HEAD, OPTIONS"),
        ("POST /outbox", "GET, HEAD, DELETE, OPTIONS"), ("PUT /outbox/x", "GET, HEAD, DELETE, OPTIONS"),
        ("POST /readyz", "GET, HEAD, OPTIONS"), ("GET /pause", "POST, OPTIONS"),
        ("DELETE /messages", "GET, HEAD, POST, OPTIONS"),
        ("GET /connect", "POST, OPTIONS"), ("GET /disconnect", "POST, OPTIONS"),
        ("get /status", "GET, HEAD, OPTIONS"),
        ("PROPFIND /v1/connections/nobody/status", "GET, HEAD, OPTIONS"),
    ])
    func `with a wrong method say which are right`(line: String, allow: String) {
        let admission = admit(line)
        #expect(admission.summary == "405 method-not-allowed")
        #expect(admission.field("Allow") == allow)
        #expect(admission.response?.text.contains(allow) == true)
    }

    @Test(arguments: [
        ("OPTIONS /messages", "GET, HEAD, POST, OPTIONS"), ("OPTIONS /events", "GET, HEAD, OPTIONS"),
        ("OPTIONS /v1/connections/nobody/status", "GET, HEAD, OPTIONS"),
        ("OPTIONS *", "GET, HEAD, POST, PUT, DELETE, OPTIONS"),
    ])
    func `answer OPTIONS with their methods`(line: String, allow: String) {
        let admission = admit(line)
        #expect(admission.summary == "204")
        #expect(admission.field("Allow") == allow)
        #expect(admission.response?.body == [])
    }

    @Test(arguments: [
        ("GET /status", false), ("HEAD /status", true), ("HEAD /events", true), ("HEAD /healthz", true),
    ])
    func `answer HEAD like GET`(line: String, isHead: Bool) throws {
        guard case .serve(let admitted) = admit(line) else { throw Unexpected() }
        #expect(admitted.isHead == isHead)
    }

    @Test(arguments: [
        ("GET /v1/events", ["alpha", "beta", "default"]),
        ("GET /v1/events?connection=*", ["alpha", "beta", "default"]),
        ("GET /v1/events?connection=beta", ["beta"]),
        ("GET /v1/events?connection=b*&connection=alpha&connection=?eta", ["alpha", "beta"]),
        ("HEAD /v1/events?connection=%61*", ["alpha"]),
    ])
    func `merge the connections that are named, each once`(line: String, names: [String]) throws {
        let route = admit(line, ["default", "beta", "alpha"]).route
        guard case .mergedEvents(let found, _, let query) = route else { throw Unexpected() }
        #expect(found == names)
        #expect(query.format == .records)
    }

    @Test(
        arguments: [
            ("GET /v1/events", [], "404 not-found"), ("GET /v1/events?connection=c", ["a"], "404 not-found"),
            ("GET /v1/events?connection=a&connection=c", ["a"], "404 not-found"),
            ("GET /v1/events?connection=b*&connection=c?", ["a"], "404 not-found"),
            ("GET /v1/events?connection=a&connection=c*", ["a"], "serve"),
            ("GET /v1/events?connection=A", ["a"], "404 not-found"),
            ("GET /v1/events?connection=%5Ba", ["a"], "400 invalid-parameter"),
            ("GET /v1/events?connection=a&connection=a%20*", ["a"], "400 invalid-parameter"),
            ("GET /v1/events?connection=", ["a"], "400 invalid-parameter"),
            ("GET /v1/events?connection=%C3%A4", ["a"], "400 invalid-parameter"),
            (
                "GET /v1/events?connection=a" + String(repeating: "&connection=a", count: 64), ["a"],
                "400 invalid-parameter"
            ),
            ("GET /v1/events?connection=a" + String(repeating: "&connection=a", count: 63), ["a"], "serve"),
        ] as [(String, [String], String)]
    )
    func `that merge nothing are not found`(line: String, connections: [String], outcome: String) {
        #expect(admit(line, connections).summary == outcome)
    }

    @Test(
        arguments: [
            ("GET /v1/events", ["feed-1", "feed-2"]), ("GET /v1/events?connection=*1", ["feed-1"]),
            ("GET /v1/events?connection=other", nil),
        ] as [(String, [String]?)]
    )
    func `merge what the token covers`(line: String, names: [String]?) {
        let pattern = NamePattern("feed-*")
        let token = AccessToken(name: "t", secret: Secret("s"), connections: [pattern])
        let admission = gate { $0.tokens = [token] }.admit(
            request(line, "Authorization: Bearer s"),
            connections: ["other", "feed-2", "feed-1"]
        )
        if let names {
            guard case .mergedEvents(let found, _, _) = admission.route else { return #expect(Bool(false)) }
            #expect(found == names)
        } else {
            #expect(admission.summary == "404 not-found")
        }
    }

    @Test func `an asterisk is for OPTIONS alone`() {
        #expect(admit("GET *").summary == "400 invalid-target")
    }

    private struct Unexpected: Error {}
}
