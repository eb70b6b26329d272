import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct Routes {
    private func admit(_ line: String, _ connections: [String] = ["default"]) -> Admission {
        gate().admit(request(line), connections: connections)
    }

    @Test(arguments: [
        ("GET /healthz", Route.health),
        ("GET /readyz", .readiness),
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
        ("POST /status", "GET, HEAD, OPTIONS"), ("GET /messages", "POST, OPTIONS"),
        ("HEAD /messages", "POST, OPTIONS"),
        ("POST /outbox", "GET, HEAD, DELETE, OPTIONS"), ("PUT /outbox/x", "GET, HEAD, DELETE, OPTIONS"),
        ("POST /readyz", "GET, HEAD, OPTIONS"), ("GET /pause", "POST, OPTIONS"),
        ("DELETE /messages", "POST, OPTIONS"),
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
        ("OPTIONS /messages", "POST, OPTIONS"), ("OPTIONS /events", "GET, HEAD, OPTIONS"),
        ("OPTIONS /v1/connections/nobody/status", "GET, HEAD, OPTIONS"),
        ("OPTIONS *", "GET, HEAD, POST, DELETE, OPTIONS"),
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

    @Test func `an asterisk is for OPTIONS alone`() {
        #expect(admit("GET *").summary == "400 invalid-target")
    }

    private struct Unexpected: Error {}
}
