import BridgeCore
import Testing

@Suite struct `Host guard` {
    private func outcome(
        host: String?,
        allowed: [String] = [],
        version: HTTPVersion = .http11,
        client: ClientAddress = .ip("192.0.2.1"),
        _ fields: String...
    ) -> String {
        gate({ $0.allowedHosts = allowed }, ownNames: ["Box", "box.example.org"]).admit(
            request("GET /healthz", fields: fields, host: host, version: version, client: client),
            connections: []
        ).summary
    }

    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:8080", "192.168.1.7", "8.8.8.8:1", "[::1]", "[::1]:8080", "[2001:db8::7]",
        "[fe80::1%25eth0]:80",
        "[::ffff:127.0.0.1]", "localhost", "localhost:99", "LocalHost", "localhost.", "a.localhost",
        "a.b.localhost:80",
        "box", "BOX:8080", "box.example.org", "box.", "127.0.0.1:",
    ])
    func `passes addresses, loopback names and the machine's own`(host: String) {
        #expect(outcome(host: host) == "serve")
    }

    @Test(arguments: [
        "evil.example", "evil.example:8080", "localhost.evil.example", "notlocalhost", "box.evil.example",
        "example.org",
        "127.0.0.1.evil.example", "0x7f.1", "2130706433", "127.1", "127.0.0.01", "127.0.0.256",
    ])
    func `refuses other names, whatever their port`(host: String) {
        #expect(outcome(host: host) == "421 misdirected-host")
    }

    @Test(arguments: [
        ("bridge.example", ["bridge.example"], "serve"), ("Bridge.Example:443", ["bridge.example"], "serve"),
        ("bridge.example", ["BRIDGE.example."], "serve"),
        ("a.bridge.example", ["bridge.example"], "421 misdirected-host"),
        ("evil.example", ["a", "*"], "serve"), ("evil.example", ["*.example"], "421 misdirected-host"),
    ])
    func `passes the names that are allowed`(host: String, allowed: [String], expected: String) {
        #expect(outcome(host: host, allowed: allowed) == expected)
    }

    @Test(arguments: [
        "", " ", "a b", "a:b", "a:80:80", "a:65536", "a:-1", "[::1", "::1", "[]", "[1.2.3.4]", "[::1]x",
        "u@a", "a/b", "é", "a,b",
        "a:1234567890123456789012345",
    ])
    func `refuses a malformed one`(host: String) {
        #expect(outcome(host: host) == "400 invalid-host")
    }

    @Test(arguments: [(HTTPVersion.http11, "400 invalid-host"), (.http10, "serve")])
    func `wants one since HTTP 1.1`(version: HTTPVersion, expected: String) {
        #expect(outcome(host: nil, version: version) == expected)
    }

    @Test(arguments: [HTTPVersion.http11, .http10], [ClientAddress.unix, .ip("127.0.0.1")])
    func `refuses several`(version: HTTPVersion, client: ClientAddress) {
        let twice = outcome(host: "127.0.0.1", version: version, client: client, "Host: 127.0.0.1")
        #expect(twice == "400 invalid-host")
    }

    @Test(arguments: ["evil.example", "", "a b", "localhost"])
    func `passes any name on a unix socket`(host: String) {
        #expect(outcome(host: host, client: .unix) == "serve")
    }

    @Test(arguments: [
        ("http://evil.example/healthz", "127.0.0.1", "421 misdirected-host"),
        ("http://127.0.0.1/healthz", "evil.example", "serve"),
        ("http://a:b/healthz", "127.0.0.1", "400 invalid-host"),
    ])
    func `looks at the authority of an absolute target instead`(
        target: String,
        host: String,
        expected: String
    ) {
        let admission = gate().admit(request("GET \(target)", host: host), connections: [])
        #expect(admission.summary == expected)
    }

    @Test(arguments: [
        ("Authorization: Bearer right", "serve"), ("Authorization: Bearer wrong", "421 misdirected-host"),
        ("X: y", "421 misdirected-host"),
    ])
    func `passes any name with a right token`(field: String, expected: String) {
        let gate = gate { $0.tokens = [AccessToken(name: "t", secret: Secret("right"))] }
        let admission = gate.admit(
            request("GET /status", field, host: "evil.example"),
            connections: ["default"]
        )
        #expect(admission.summary == expected)
    }

    @Test func `says which setting adds a name`() throws {
        let response = try #require(gate().admit(request(host: "evil.example"), connections: []).response)
        #expect(response.text.contains("evil.example"))
        #expect(response.text.contains("WSBRIDGE_ALLOWED_HOSTS"))
    }
}
