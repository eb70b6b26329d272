import BridgeCore
import Testing

@Suite struct `Origin guard` {
    private static let refused = "403 origin-not-allowed"

    private func admit(
        _ line: String,
        _ fields: [String],
        host: String? = "localhost:8080",
        allowed: [String] = [],
        version: HTTPVersion = .http11,
        servesTLS: Bool = false
    ) -> Admission {
        gate {
            $0.allowedOrigins = allowed
            if servesTLS { $0.tls = ServerTLSSettings() }
            $0.allowedHosts = ["bridge.example"]
        }.admit(
            request(line, fields: fields, host: host, version: version),
            connections: ["default"]
        )
    }

    @Test(arguments: [
        ("http://localhost:8080", "localhost:8080"), ("http://LOCALHOST:8080", "localhost:8080"),
        ("https://bridge.example", "bridge.example"), ("http://bridge.example", "bridge.example"),
        ("http://bridge.example:80", "bridge.example"), ("https://bridge.example:443", "bridge.example"),
        ("https://bridge.example", "bridge.example:443"), ("http://bridge.example", "bridge.example:80"),
        ("http://[::1]:8080", "[::1]:8080"), ("http://127.0.0.1:8080", "127.0.0.1:8080"),
    ])
    func `passes pages of the bridge's own host`(origin: String, host: String) {
        #expect(admit("GET /status", ["Origin: \(origin)"], host: host).summary == "serve")
    }

    /// Anybody on the way could have written a page that came over plain HTTP.
    @Test(arguments: [
        ("https://localhost:8080", "localhost:8080", "serve"),
        ("https://bridge.example", "bridge.example", "serve"),
        ("https://bridge.example", "bridge.example:443", "serve"),
        ("http://localhost:8080", "localhost:8080", refused),
        ("http://bridge.example", "bridge.example", refused),
        ("http://bridge.example", "bridge.example:80", refused),
        ("HTTP://localhost:8080", "localhost:8080", refused),
        ("http://localhost:8080", "localhost:9090", refused),
    ])
    func `over TLS passes those that came over TLS alone`(origin: String, host: String, verdict: String) {
        let fields = ["Origin: \(origin)"]
        #expect(admit("GET /status", fields, host: host, servesTLS: true).summary == verdict)
        // Who wants to may allow it.
        let allowing = admit("GET /status", fields, host: host, allowed: [origin], servesTLS: true)
        #expect(allowing.summary == "serve")
    }

    @Test(
        arguments: [
            ("http://localhost:3000", "localhost:8080"), ("http://localhost", "localhost:8080"),
            ("http://evil.example", "localhost:8080"), ("null", "localhost:8080"), ("", "localhost:8080"),
            ("localhost:8080", "localhost:8080"), ("file://", "localhost:8080"),
            ("ftp://localhost:8080", "localhost:8080"),
            ("http://localhost:8080/", "localhost:8080"),
            ("http://localhost:8080.evil.example", "localhost:8080"),
            ("http://u@localhost:8080", "localhost:8080"), ("https://bridge.example", "bridge.example:80"),
            ("http://bridge.example:443", "bridge.example"), ("http://127.0.0.1:8080", "localhost:8080"),
        ],
        [
            "GET /status", "HEAD /status", "POST /messages", "OPTIONS /status", "DELETE /x", "GET /healthz",
            "GET /",
        ]
    )
    func `refuses pages of other origins, whatever the method`(pair: (String, String), line: String) {
        let admission = admit(line, ["Origin: \(pair.0)"], host: pair.1)
        #expect(admission.summary == Self.refused)
        #expect(admission.field("Access-Control-Allow-Origin") == nil)
        #expect(admission.field("Vary") == "Origin")
    }

    @Test(arguments: [
        ("https://app.example", ["https://app.example"], "https://app.example"),
        ("https://APP.example", ["https://app.example"], "https://APP.example"),
        ("https://app.example", ["https://app.example:443"], "https://app.example"),
        ("http://localhost:3000", ["https://app.example", "http://localhost:3000"], "http://localhost:3000"),
        ("null", ["null"], "null"), ("https://any.example", ["*"], "*"), ("null", ["*"], "*"),
        ("chrome-extension://abc", ["chrome-extension://abc"], "chrome-extension://abc"),
    ])
    func `passes allowed origins and tells their browsers`(origin: String, allowed: [String], told: String) {
        let admission = admit("GET /status", ["Origin: \(origin)"], allowed: allowed)
        #expect(admission.summary == "serve")
        #expect(admission.field("Access-Control-Allow-Origin") == told)
        #expect(admission.field("Vary") == "Origin")
    }

    @Test(arguments: [
        ("http://app.example", ["https://app.example"]),
        ("https://app.example:8443", ["https://app.example"]),
        ("https://app.example.evil.example", ["https://app.example"]),
        ("https://b.app.example", ["https://app.example"]),
        ("null", ["https://app.example"]),
    ])
    func `takes allowed origins exactly`(origin: String, allowed: [String]) {
        #expect(admit("GET /status", ["Origin: \(origin)"], allowed: allowed).summary == Self.refused)
    }

    @Test func `wants every one of several origins to pass`() {
        let fields = ["Origin: http://localhost:8080", "Origin: http://evil.example"]
        #expect(admit("GET /status", fields).summary == Self.refused)
    }

    @Test func `without a Host no origin is the bridge's own`() {
        let admission = admit("GET /status", ["Origin: http://localhost"], host: nil, version: .http10)
        #expect(admission.summary == Self.refused)
    }

    @Test(arguments: [
        ("GET /status", ["Sec-Fetch-Site: cross-site"], "403 origin-not-allowed"),
        (
            "POST /connect", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"],
            "403 origin-not-allowed"
        ),
        (
            "GET /status", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"],
            "403 origin-not-allowed"
        ),
        ("GET /", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"], "403 origin-not-allowed"),
        ("POST /", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"], "403 origin-not-allowed"),
        (
            "GET /", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"],
            "403 origin-not-allowed"
        ),
        ("GET /", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"], "404 not-found"),
        (
            "GET /", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"],
            "404 not-found"
        ),
        ("GET /status", ["Sec-Fetch-Site: same-origin"], "serve"),
        ("GET /status", ["Sec-Fetch-Site: none"], "serve"),
        // Another port of this host: an image, a frame, a script.
        ("GET /events", ["Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors"], "403 origin-not-allowed"),
        ("GET /status", ["Sec-Fetch-Site: CROSS-SITE"], "403 origin-not-allowed"),
        ("GET /status", ["Sec-Fetch-Site: cross-site, same-origin"], "403 origin-not-allowed"),
        ("GET /status", ["Sec-Fetch-Site: of-tomorrow"], "403 origin-not-allowed"),
        ("GET /status", ["Sec-Fetch-Site: same-site", "Origin: http://localhost:8080"], "serve"),
        ("GET /status", ["Sec-Fetch-Site: cross-site", "Origin: http://localhost:8080"], "serve"),
    ])
    func `sees through requests without an Origin by Sec-Fetch-Site`(
        line: String,
        fields: [String],
        expected: String
    ) {
        #expect(admit(line, fields).summary == expected)
    }

    private let preflight = ["Origin: https://app.example", "Access-Control-Request-Method: POST"]

    @Test(arguments: [
        ("OPTIONS /messages", "GET, HEAD, POST, OPTIONS"), ("OPTIONS /events", "GET, HEAD, OPTIONS"),
        ("OPTIONS /nothing", "GET, HEAD, POST, PUT, DELETE, OPTIONS"),
    ])
    func `answers the preflight of an allowed origin`(line: String, methods: String) throws {
        let admission = admit(line, preflight, allowed: ["https://app.example"])
        #expect(admission.summary == "204")
        #expect(admission.field("Access-Control-Allow-Origin") == "https://app.example")
        #expect(admission.field("Access-Control-Allow-Methods") == methods)
        #expect(admission.field("Vary") == "Origin")
        let headers = try #require(admission.field("Access-Control-Allow-Headers"))
        #expect(headers.contains("Authorization") && headers.contains("Content-Type"))
        #expect(headers.contains("Last-Event-ID"))
    }

    @Test func `refuses the preflight of others`() {
        #expect(admit("OPTIONS /messages", preflight).summary == Self.refused)
    }

    @Test func `lets allowed pages read refusals`() {
        let gate = gate {
            $0.allowedOrigins = ["https://app.example"]
            $0.tokens = [AccessToken(name: "t", secret: Secret("right"))]
        }
        let admission = gate.admit(
            request("GET /status", "Origin: https://app.example"),
            connections: ["default"]
        )
        #expect(admission.summary == "401 unauthorized")
        #expect(admission.field("Access-Control-Allow-Origin") == "https://app.example")
        #expect(
            gate.admit(request("OPTIONS /status", fields: preflight), connections: ["default"]).summary
                == "204"
        )
    }
}
