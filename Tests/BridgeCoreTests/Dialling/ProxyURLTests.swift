import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `The URL of a proxy` {
    @Test(
        arguments: [
            ("http://p:3128", ProxyURL(kind: .http, host: "p", port: 3128)),
            ("HTTP://p.example:3128/", ProxyURL(kind: .http, host: "p.example", port: 3128)),
            ("http://p", ProxyURL(kind: .http, host: "p", port: 80)),
            ("https://p", ProxyURL(kind: .https, host: "p", port: 443)),
            ("socks5://[::1]", ProxyURL(kind: .socks5, host: "::1", port: 1080)),
            ("socks5h://[2001:db8::1]:9", ProxyURL(kind: .socks5h, host: "2001:db8::1", port: 9)),
        ] as [(String, ProxyURL)]
    )
    func `is taken apart`(text: String, expected: ProxyURL) throws {
        #expect(try ProxyURL(text) == expected)
    }

    @Test func `has credentials, percent-decoded`() throws {
        let credentials = try #require(try ProxyURL("socks5h://us%65r:p%40:@p").credentials)
        #expect(credentials.user == "user")
        #expect(credentials.password == "p@:")
    }

    @Test func `may lack its scheme where one is assumed`() throws {
        #expect(try ProxyURL("u:p@p:1", assumed: .http).redacted == "http://p:1")
        #expect(try ProxyURL("socks5://p:1", assumed: .http).kind == .socks5)
        #expect(throws: MalformedValue.self) { try ProxyURL("u:p@p:1") }
    }

    @Test(arguments: [
        "", "http://", "p:1", "ftp://p", "socks4://p", "socks://p", "http:p", "http://p:0", "http://p:70000",
        "http://p:x", "http://p/path", "http://p?x", "http://p#x", "http://p//", "http://[::1", "http://a b",
        "http://p\r\nX: y", "http://u%zz@p", "http://u%0A@p", "http://256.1.1.1", "http://ü",
        "socks5://\(String(repeating: "u", count: 256))@p",
        "socks5h://u:\(String(repeating: "p", count: 256))@p",
    ])
    func `that is wrong is refused without being shown`(text: String) throws {
        let fault = try #require(throws: MalformedValue.self) { try ProxyURL(text) }
        #expect(fault.expectation.hasPrefix(ProxyURL.expectation + ", but this one "))
        #expect(!fault.expectation.contains("%zz"))
        #expect(!fault.expectation.contains("uuu"))
    }

    @Test func `shows its credentials nowhere`() throws {
        let proxy = try ProxyURL("http://hunter:hunter2@p:1")
        var dumped = ""
        dump(ProxyRule.always(proxy), to: &dumped)
        for text in ["\(proxy)", String(reflecting: proxy), dumped] {
            #expect(text.contains("http://p:1"))
            #expect(!text.contains("hunter"))
        }
    }
}

@Suite struct `Hosts that are reached directly (NO_PROXY)` {
    @Test(
        arguments: [
            // Names match by whole labels.
            ("example.org", "example.org", true), ("example.org", "EXAMPLE.org", true),
            ("Example.Org", "example.org", true), ("example.org", "a.b.example.org", true),
            ("example.org", "badexample.org", false), ("example.org", "example.org.evil", false),
            ("example.org", "org", false), (".example.org", "example.org", true),
            (".example.org", "a.example.org", true), ("*.example.org", "a.example.org", true),
            ("example.org.", "example.org", true), ("example.org", "a.example.org.", true),
            ("org", "example.org", true), ("localhost", "localhost", true),
            ("ample.org", "example.org", false),
            // Lists.
            ("*", "example.org", true), ("*", "::1", true), ("a, b ,,c", "c", true), ("a b\tc", "b", true),
            ("a,*", "x", true), ("a,b", "x", false), ("", "x", false), (" , ", "x", false),
            // Addresses match by their bits.
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.10", false),
            ("2001:db8::1", "2001:0DB8:0::0001", true), ("[::1]", "::1", true), ("::1", "::2", false),
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false),
            ("10.1.2.3/8", "10.9.9.9", true), ("192.0.2.0/25", "192.0.2.127", true),
            ("192.0.2.0/25", "192.0.2.128", false), ("0.0.0.0/0", "1.2.3.4", true),
            ("0.0.0.0/0", "::1", false),
            ("0.0.0.0/0", "example.org", false), ("192.0.2.1/32", "192.0.2.1", true),
            ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false), ("::/0", "::1", true),
            ("2001:db8::/33", "2001:db8:7fff::", true), ("2001:db8::/33", "2001:db8:8000::", false),
            ("192.0.2.0/24", "::ffff:192.0.2.9", true), ("::ffff:192.0.2.0/120", "192.0.2.9", true),
            ("::ffff:192.0.2.1", "192.0.2.1", true),
            // A name never matches an address, nor the other way round.
            ("10", "example.10", false), ("2.1", "192.0.2.1", false), ("127.0.0.1", "localhost", false),
            // Ports.
            ("example.org:443", "example.org", true), ("example.org:444", "example.org", false),
            ("[::1]:443", "::1", true), ("[::1]:80", "::1", false), ("192.0.2.1:443", "192.0.2.1", true),
            (".example.org:443", "a.example.org", true),
        ] as [(String, String, Bool)]
    )
    func `are names and their parents by label, addresses and blocks`(
        list: String,
        host: String,
        isDirect: Bool
    ) {
        let hosts = DirectHosts(list)
        #expect(hosts.cover(Destination(host: host, port: 443)) == isDirect)
    }

    @Test(arguments: [
        "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/+8", "::/129", "10.0/8", "a/8", "<local>", "u@h",
        "a..b", "h:0", "h:x", "1.2.3", ".10.0.0.1", "*x", "[::1", "http://h",
    ])
    func `that cannot be understood are told and cover nothing`(word: String) {
        let hosts = DirectHosts("a,\(word),b")
        #expect(hosts.malformed == [word])
        #expect(hosts.cover(Destination(host: "b", port: 1)))
        for host in ["10.0.0.1", "h", "::1", "x"] {
            #expect(!hosts.cover(Destination(host: host, port: 1)))
        }
    }
}

@Suite struct `The proxy of a connection` {
    private func proxy(
        for url: String,
        _ environment: [String: String],
        _ setting: ProxySetting = .environment
    ) throws -> String? {
        let rule = ProxyRule(setting, environment: EnvironmentProxies(environment))
        return try rule.proxy(for: try WebSocketURL(url))?.redacted
    }

    @Test(
        arguments: [
            ("wss://h", ["HTTPS_PROXY": "http://p:1"], "http://p:1"),
            ("ws://h", ["HTTPS_PROXY": "http://p:1"], nil),
            ("ws://h", ["HTTP_PROXY": "http://p:1"], "http://p:1"),
            ("wss://h", ["HTTP_PROXY": "http://p:1"], nil),
            ("wss://h", ["https_proxy": "socks5h://p:1"], "socks5h://p:1"),
            ("ws://h", ["http_proxy": "p:1"], "http://p:1"),
            ("ws://h", ["http_proxy": "http://low:1", "HTTP_PROXY": "http://up:1"], "http://low:1"),
            ("ws://h", ["http_proxy": "", "HTTP_PROXY": "http://up:1"], "http://up:1"),
            ("ws://h", ["HTTP_PROXY": ""], nil),
            ("ws://h", ["ALL_PROXY": "socks5://p"], "socks5://p:1080"),
            ("wss://h", ["all_proxy": "socks5://p"], "socks5://p:1080"),
            ("wss://h", ["ALL_PROXY": "http://a:1", "HTTPS_PROXY": "http://p:1"], "http://p:1"),
            ("wss://h", [:], nil), ("ws://127.0.0.1", ["HTTP_PROXY": "http://p:1"], "http://p:1"),
            ("ws://localhost", ["HTTP_PROXY": "http://p:1"], "http://p:1"),
            ("ws://localhost", ["HTTP_PROXY": "http://p:1", "NO_PROXY": "localhost"], nil),
            ("ws://10.1.1.1", ["HTTP_PROXY": "http://p:1", "no_proxy": "10.0.0.0/8"], nil),
            ("ws://h:81", ["HTTP_PROXY": "http://p:1", "NO_PROXY": "h:80"], "http://p:1"),
            ("ws://h", ["HTTP_PROXY": "http://p:1", "no_proxy": "x", "NO_PROXY": "h"], "http://p:1"),
            ("ws+unix:/s", ["HTTP_PROXY": "http://p:1", "ALL_PROXY": "http://p:1"], nil),
        ] as [(String, [String: String], String?)]
    )
    func `is that of the environment unless NO_PROXY covers the host`(
        url: String,
        environment: [String: String],
        expected: String?
    ) throws {
        #expect(try proxy(for: url, environment) == expected)
    }

    @Test func `is the one that was set, whatever the environment says`() throws {
        let environment = ["HTTP_PROXY": "http://p:1", "NO_PROXY": "*"]
        let setting = ProxySetting.always(try ProxyURL("http://q:1"))
        #expect(try proxy(for: "ws://h", environment, setting) == "http://q:1")
        #expect(try proxy(for: "ws+unix:/s", environment, setting) == nil)
        #expect(try proxy(for: "ws://h", ["HTTP_PROXY": "http://p:1"], ProxySetting.none) == nil)
    }

    @Test func `is never left out because a variable is wrong`() throws {
        let rule = ProxyRule(
            .environment,
            environment: EnvironmentProxies(["http_proxy": "ftp://u:hunter2@p"])
        )
        let url = try WebSocketURL("ws://h")
        let failure = #expect(throws: DialFailure.self) { try rule.proxy(for: url) }
        #expect(failure?.phase == .proxy)
        #expect(
            failure?.error.hasPrefix("the environment variable http_proxy: expected a proxy such as ") == true
        )
        #expect(failure?.error.contains("hunter2") == false)
    }
}
