import Testing
import WebSocketProtocol

/// References as a `Location` holds them.
@Suite struct `A reference to a URL` {
    private func resolved(_ reference: String, from base: String) throws -> WebSocketURL {
        try WebSocketURL(base).resolving(reference)
    }

    /// RFC 3986 §5.4, as far as paths and queries go.
    @Test(arguments: [
        ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
        ("g?y", "/b/c/g?y"), ("", "/b/c/d;p?q"), ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"),
        ("g?y#s", "/b/c/g?y"),
        (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"), (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"),
        ("../", "/b/"),
        ("../g", "/b/g"), ("../..", "/"), ("../../", "/"), ("../../g", "/g"), ("../../../g", "/g"),
        ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."), (".g", "/b/c/.g"),
        ("g..", "/b/c/g.."), ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"),
        ("g/./h", "/b/c/g/h"),
        ("g/../h", "/b/c/h"), ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"),
        ("g?y/./x", "/b/c/g?y/./x"), ("g?y/../x", "/b/c/g?y/../x"), ("g?a:b", "/b/c/g?a:b"),
        ("./a:b", "/b/c/a:b"), ("/a//../b", "/a/b"), ("//a", "/"), ("//a/x/../y", "/y"),
        ("/%2e%2E/g", "/%2e%2E/g"),
    ])
    func `has the path that the standard says`(reference: String, target: String) throws {
        #expect(try resolved(reference, from: "ws://a/b/c/d;p?q").target == target)
    }

    @Test(arguments: [
        ("wss://h", "/x", "wss://h/x"), ("ws://h:81/", "x", "ws://h:81/x"), ("ws://h?q", "", "ws://h/"),
        ("wss://h/", "//other/x", "wss://other/x"), ("ws://h/", "//other:9", "ws://other:9/"),
        ("ws://h/", "http://other/x", "ws://other/x"), ("ws://h/", "HTTPS://other", "wss://other/"),
        ("wss://h/", "wss://[::1]:5/x", "wss://[::1]:5/x"), ("ws+unix:/s:/a/b", "c", "ws+unix:/s:/a/c"),
        ("ws+unix:/s:/a", "ws://h/", "ws://h/"), ("ws+unix:/s:/a", "//h/", "ws://h/"),
        ("ws://h/", "ws+unix:/s:/", "ws+unix:/s:/"), ("wss+unix:/s:/a", "/b", "wss+unix:/s:/b"),
    ])
    func `leads to`(base: String, reference: String, expected: String) throws {
        #expect(try resolved(reference, from: base).redacted == expected)
    }

    @Test(arguments: [
        ("ftp://h/", WebSocketURLError.scheme), ("mailto:a@b", .scheme), ("javascript:x", .scheme),
        ("http:/h", .scheme), ("http:", .scheme), ("a:b", .scheme), ("//", .missingHost),
        ("/a b", .controlCharacterOrSpace),
        ("/a\u{0}", .controlCharacterOrSpace), ("http://h:0/", .port), ("//h:99999/", .port),
        ("//[::1/", .ipv6),
        ("//1.2.3/", .host),
    ])
    func `is refused when it leads to no upstream`(reference: String, error: WebSocketURLError) throws {
        let base = try WebSocketURL("ws://h/")
        #expect(throws: error) { try base.resolving(reference) }
    }

    @Test(arguments: [("y", "ws://h/***"), ("/", "ws://h/"), ("wss://other/x/y", "wss://other/***")])
    func `leads from a hidden path to a hidden path`(reference: String, shown: String) throws {
        var base = try WebSocketURL("ws://h/session/x")
        base.hidesPath = true
        #expect(try base.resolving(reference).redacted == shown)
    }

    @Test func `takes no credentials along but its own`() throws {
        let base = try WebSocketURL("ws://user:password@h/")
        #expect(try base.resolving("/x").credentials == nil)
        #expect(try base.resolving("ws://h/x").credentials == nil)
        #expect(try base.resolving("ws://other@h/x").credentials?.user == "other")
        #expect(try base.resolving("/x").authorized(as: base).credentials == base.credentials)
    }

    @Test(arguments: [
        ("ws://h/", "ws://h/x?y", true), ("ws://h/", "http://H:80/", true),
        ("wss://h/", "https://h:443", true),
        ("ws://a:b@h/", "ws://h/", true), ("ws://h/", "wss://h/", false), ("ws://h/", "wss://h:80/", false),
        ("ws://h/", "ws://h:81/", false), ("ws://h/", "ws://h.example/", false),
        ("ws://h/", "ws+unix:h:/", false),
        ("ws+unix:/s:/", "ws+unix:/s:/x", true), ("ws+unix:/s:/", "ws+unix:/S:/", false),
        ("ws+unix:/s:/", "wss+unix:/s:/", false),
    ])
    func `is of the same origin if scheme, host and port are the same`(
        one: String,
        other: String,
        isSame: Bool
    ) throws {
        let (one, other) = (try WebSocketURL(one), try WebSocketURL(other))
        #expect(one.hasSameOrigin(as: other) == isSame)
        #expect(other.hasSameOrigin(as: one) == isSame)
    }
}
