import Testing
import WebSocketProtocol

@Suite struct `WebSocket URLs` {
    struct Parts: Sendable {
        var text: String
        var isSecure: Bool
        var host: String
        var port: UInt16
        var target: String
        var hostField: String

        init(
            _ text: String,
            _ isSecure: Bool,
            _ host: String,
            _ port: UInt16,
            _ target: String,
            _ field: String
        ) {
            self.text = text
            self.isSecure = isSecure
            self.host = host
            self.port = port
            self.target = target
            hostField = field
        }
    }

    static let valid: [Parts] = [
        Parts("ws://example.org", false, "example.org", 80, "/", "example.org"),
        Parts("wss://example.org/feed?a=b", true, "example.org", 443, "/feed?a=b", "example.org"),
        Parts("http://example.org:8080/", false, "example.org", 8080, "/", "example.org:8080"),
        Parts("HTTPS://Example.org", true, "Example.org", 443, "/", "Example.org"),
        Parts("WsS://h:443/x", true, "h", 443, "/x", "h"),
        Parts("ws://h:443/x", false, "h", 443, "/x", "h:443"),
        Parts("wss://h:80", true, "h", 80, "/", "h:80"),
        Parts("ws://h:/x", false, "h", 80, "/x", "h"),
        Parts("ws://h?q=1", false, "h", 80, "/?q=1", "h"),
        Parts("ws://h/a%2Fb/../c//d?x=%20&y=/?:@", false, "h", 80, "/a%2Fb/../c//d?x=%20&y=/?:@", "h"),
        Parts("ws://h/é", false, "h", 80, "/é", "h"),
        Parts("ws://127.0.0.1:65535", false, "127.0.0.1", 65535, "/", "127.0.0.1:65535"),
        Parts("ws://[::1]:9000/p", false, "::1", 9000, "/p", "[::1]:9000"),
        Parts("wss://[2001:DB8::7]", true, "2001:DB8::7", 443, "/", "[2001:DB8::7]"),
        Parts("ws://my_service", false, "my_service", 80, "/", "my_service"),
        Parts("ws://1.2.3.4.example.", false, "1.2.3.4.example.", 80, "/", "1.2.3.4.example."),
        Parts("ws://u:p@h/x@y", false, "h", 80, "/x@y", "h"),
    ]

    @Test(arguments: valid)
    func `a valid URL is taken apart`(expected: Parts) throws {
        let url = try WebSocketURL(expected.text)
        #expect(url.isSecure == expected.isSecure)
        #expect(url.endpoint == .tcp(host: expected.host, port: expected.port))
        #expect(url.target == expected.target)
        #expect(url.hostField == expected.hostField)
    }

    @Test(arguments: [
        ("", WebSocketURLError.empty), ("example.org", .scheme), ("ftp://h", .scheme), ("ws:h", .scheme),
        ("ws:/h", .scheme), ("://h", .scheme), ("wss", .scheme), ("ws://", .missingHost),
        ("ws:///x", .missingHost),
        ("ws://:80", .missingHost), ("ws://u@/x", .missingHost), ("ws://?q", .missingHost),
        ("ws://h/a b", .controlCharacterOrSpace), (" ws://h", .controlCharacterOrSpace),
        ("ws://h/\r\nX: y", .controlCharacterOrSpace), ("ws://h/\u{0}", .controlCharacterOrSpace),
        ("ws://h/\u{7F}", .controlCharacterOrSpace), ("ws://h/\t", .controlCharacterOrSpace),
        ("ws://h/#top", .fragment), ("ws://h#", .fragment), ("ws://h:0", .port), ("ws://h:65536", .port),
        ("ws://h:99999999999999999999", .port), ("ws://h:8a", .port), ("ws://h:-1", .port),
        ("ws://h:+1", .port),
        ("ws://a:b:1", .port), ("ws://[::1", .ipv6), ("ws://[::1]x", .ipv6), ("ws://[1.2.3.4]", .ipv6),
        ("ws://[::g]", .ipv6), ("ws://[1:2:3:4:5:6:7:8:9]", .ipv6), ("ws://[fe80::1%25eth0]", .ipv6),
        ("ws://[]", .ipv6), ("ws://a..b", .host), ("ws://.a", .host), ("ws://a%41", .host),
        ("ws://h<>", .host),
        ("ws://münchen.de", .host), ("ws://1.2.3", .host), ("ws://256.1.1.1", .host), ("ws://1", .host),
        ("ws://h\\x", .host), ("ws://u:%zz@h", .userinfo), ("ws://u%@h", .userinfo),
        ("ws://u%3A:p@h", .userinfo),
        ("ws://u:%0A@h", .userinfo), ("ws://%FF@h", .userinfo),
    ])
    func `an invalid URL says which part is wrong`(text: String, expected: WebSocketURLError) {
        #expect(throws: expected) { try WebSocketURL(text) }
    }

    @Test func `labels have at most 63 bytes and names 253`() throws {
        let label = String(repeating: "a", count: 63)
        let name = "\(label).\(label).\(label).\(label.dropLast(2))"
        _ = try WebSocketURL("ws://\(name)")
        #expect(throws: WebSocketURLError.host) { try WebSocketURL("ws://\(name)a") }
        #expect(throws: WebSocketURLError.host) { try WebSocketURL("ws://\(label)a") }
    }

    @Test(arguments: [
        ("ws://user:secret@h", "user", "secret"), ("ws://user@h", "user", ""), ("ws://:p@h", "", "p"),
        ("ws://u%40x:p%3A%2F%C3%A9@h", "u@x", "p:/é"), ("ws://u:p@ss:w@h", "u", "p@ss:w"),
    ])
    func `userinfo is percent-decoded`(text: String, user: String, password: String) throws {
        let credentials = try #require(try WebSocketURL(text).credentials)
        #expect(credentials.user == user)
        #expect(credentials.password == password)
        #expect(credentials.basicInput == Array("\(user):\(password)".utf8))
    }

    @Test(arguments: ["ws://h", "ws://@h"])
    func `without userinfo there are no credentials`(text: String) throws {
        #expect(try WebSocketURL(text).credentials == nil)
    }

    @Test func `however it is printed, a URL shows neither userinfo nor query`() throws {
        let url = try WebSocketURL("wss://user:hunter2@example.org:8443/feed?token=hunter3")
        #expect(url.redacted == "wss://example.org:8443/feed")
        var dumped = ""
        dump(url, to: &dumped)
        for text in ["\(url)", String(reflecting: url), dumped] {
            #expect(text.contains("wss://example.org:8443/feed"))
            #expect(!text.contains("hunter"))
            #expect(!text.contains("user"))
        }
    }

    @Test(arguments: [
        ("wss://h:8443/session/x?y", "wss://h:8443/***"), ("ws://h/?y", "ws://h/"), ("ws://h", "ws://h/"),
        ("ws+unix:/run/x.sock:/session", "ws+unix:/run/x.sock:/***"),
    ])
    func `a path that may be a secret does not show`(text: String, shown: String) throws {
        var url = try WebSocketURL(text)
        url.hidesPath = true
        #expect([url.redacted, "\(url)"] == [shown, shown])
        #expect(try url.authorized(as: WebSocketURL("ws://a:b@h/")).redacted == shown)
    }

    @Test(arguments: [
        ("ws+unix:/run/x.sock:/feed?a=b:c", "/run/x.sock", "/feed?a=b:c"), ("ws+unix:x.sock", "x.sock", "/"),
        ("WS+UNIX:///run/x.sock:/", "/run/x.sock", "/"), ("ws+unix:/run/x.sock:", "/run/x.sock", "/"),
    ])
    func `a unix socket is named by its path`(text: String, path: String, target: String) throws {
        let url = try WebSocketURL(text)
        #expect(url.endpoint == .unix(path: path))
        #expect(url.target == target)
        #expect(url.hostField == "localhost")
        #expect(!url.redacted.contains("?"))
        #expect(url.redacted.hasPrefix("ws+unix:\(path):/"))
    }

    @Test func `a unix socket may be spoken to over TLS`() throws {
        let url = try WebSocketURL("WSS+UNIX:/run/x.sock:/a?b")
        #expect(url.isSecure)
        #expect(url.redacted == "wss+unix:/run/x.sock:/a")
    }

    @Test(arguments: [
        ("ws+unix:x.sock:/p?q", "ws+unix:/base/x.sock:/p?q"), ("WS+UNIX:x.sock", "WS+UNIX:/base/x.sock"),
        ("wss+unix:///run/x:/", "wss+unix:/base//run/x:/"), ("ws+unix:", "ws+unix:"), ("ws+unix", "ws+unix"),
        ("ws://h/x", "ws://h/x"), ("", ""),
    ])
    func `the path of a unix socket can start at a folder`(text: String, resolved: String) {
        #expect(WebSocketURL.resolvingSocketPath(in: text) { "/base/" + $0 } == resolved)
    }

    @Test(
        arguments: [
            ("1.2.3.255", [1, 2, 3, 255]), ("::", Array(repeating: 0, count: 16)),
            ("::1", Array(repeating: 0, count: 15) + [1]), ("1::", [0, 1] + Array(repeating: 0, count: 14)),
            ("2001:DB8::a:0", [0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0]),
            ("1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]),
            ("::ffff:1.2.3.4", Array(repeating: 0, count: 10) + [255, 255, 1, 2, 3, 4]),
            ("1:2:3:4:5:6:7::", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0]),
            ("::2:3:4:5:6:7:8", [0, 0, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]),
        ] as [(String, [UInt8])]
    )
    func `an address has its bytes`(text: String, bytes: [UInt8]) {
        #expect(IPAddress.bytes(of: text) == bytes)
    }

    @Test(arguments: ["", "example.org", "1.2.3", ":::", "1:2"])
    func `what is no address has no bytes`(text: String) {
        #expect(IPAddress.bytes(of: text) == nil)
    }

    @Test(arguments: [
        ("ws+unix:", WebSocketURLError.unixPath), ("ws+unix::/x", .unixPath), ("ws+unix:/s:x", .unixTarget),
        ("ws+unix:/s?token=t", .unixTarget),
        ("ws+unix:/" + String(repeating: "s", count: 107), .unixPath),
    ])
    func `a unix socket needs a path that the system takes`(text: String, expected: WebSocketURLError) {
        #expect(throws: expected) { try WebSocketURL(text) }
    }

    @Test(arguments: [
        "::", "::1", "1::", "1:2:3:4:5:6:7:8", "1::8", "1:2:3::6:7:8", "::ffff:1.2.3.4",
        "1:2:3:4:5:6:1.2.3.4",
        "64:ff9b::1.2.3.4", "ABCD::abcd", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:7::",
    ])
    func `valid IPv6 addresses are told`(text: String) {
        #expect(IPAddress.isIPv6(text))
        #expect(IPAddress.isLiteral(text))
    }

    @Test(arguments: [
        "", ":", ":::", "1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:", ":1:2:3:4:5:6:7:8", "1::2::3", "12345::",
        "1.2.3.4::", "::1.2.3", "::1.2.3.256", "1:2:3:4:5:6:7:1.2.3.4", "1:2:3:4::5:6:7:8", "g::", "::1%lo",
        "1:", ":1",
        "1:::2", "example.org",
    ])
    func `invalid IPv6 addresses are told`(text: String) {
        #expect(!IPAddress.isIPv6(text))
    }

    @Test(arguments: [
        ("1.2.3.4", true), ("0.0.0.0", true), ("255.255.255.255", true), ("1.2.3", false),
        ("1.2.3.4.5", false),
        ("256.1.1.1", false), ("01.2.3.4", false), ("1..2.3", false), ("a.b.c.d", false), ("", false),
    ])
    func `IPv4 addresses are told`(text: String, isAddress: Bool) {
        #expect(IPAddress.isIPv4(text) == isAddress)
    }
}
