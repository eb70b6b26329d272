import BridgeCore
import Testing
import WebSocketProtocol

/// What may stand as the `url` of a connection.
@Suite struct `The URL of a connection` {
    private let scene = ConfigurationScene()

    private func source(_ value: String) throws -> URLSource? {
        try scene.configuration("connections: { default: { url: \(value) } }").connections["default"]?.source
    }

    private func complaints(_ value: String) -> [String] {
        scene.complaints("connections: { default: { url: \(value) } }").map {
            $0.replacing("1: connections.default.url", with: "")
        }
    }

    @Test func `may be a list, in the order of turns`() throws {
        let urls = try ["ws://a/", "wss://b/", "ws://a/"].map { try WebSocketURL($0) }
        #expect(try source("[ws://a, wss://b, ws://a]") == .listed(urls))
        #expect(try source("[ws://a]") == .listed([urls[0]]))
        #expect(try source("ws://a") == .listed([urls[0]]))
    }

    @Test func `may be a request`() throws {
        var provider = HTTPURLProvider(url: try WebSocketURL("https://h/open?x"))
        #expect(
            try source("{ http: { url: 'https://h/open?x' } }")
                == .asked(.http(provider), timeout: .seconds(10))
        )
        #expect(provider.effectiveMethod == "GET")
        provider.method = "PUT"
        provider.headers = [HTTPField("Authorization", "Bearer t")]
        provider.body = "{}"
        provider.pointer = JSONPointer("/url")
        let full = """
            { timeout: 250ms, http: { url: 'https://h/open?x', method: PUT, headers: { Authorization: Bearer t },
            body: '{}', pointer: /url } }
            """
        #expect(try source(full) == .asked(.http(provider), timeout: .milliseconds(250)))
        provider.method = nil
        #expect(provider.effectiveMethod == "POST")
    }

    @Test func `may be a command, whose path counts from the file`() throws {
        #expect(
            try source("{ command: [get-url, -v] }")
                == .asked(.command(["get-url", "-v"]), timeout: .seconds(10))
        )
        #expect(
            try source("{ command: [/bin/a, ''] }")
                == .asked(.command(["/bin/a", ""]), timeout: .seconds(10))
        )
        #expect(
            try source("{ command: [bin/a, b/c] }")
                == .asked(.command(["conf/bin/a", "b/c"]), timeout: .seconds(10))
        )
    }

    @Test(arguments: [
        ("[]", ": the list is empty; name at least one URL"),
        (
            "[ws://a, ftp://b]",
            "[1]: expected a URL such as wss://example.org/feed, but this one must start with"
        ),
        ("[[ws://a]]", "[0]: expected a URL such as wss://example.org/feed, not a list"),
        ("[null]", "[0]: expected a URL such as wss://example.org/feed, not null"),
        ("{}", ": needs either http or command, to ask for a URL"),
        ("{ timeout: 5s }", ": needs either http or command, to ask for a URL"),
        ("{ http: { url: http://h }, command: [a] }", ": needs either http or command, to ask for a URL"),
        ("{ http: {} }", ".http: needs url"),
        ("{ http: { url: ws://h } }", ".http.url: expected a URL that starts with http:// or https://"),
        (
            "{ http: { url: 'http://h/#x' } }",
            ".http.url: expected a URL that starts with http:// or https://, but"
        ),
        ("{ http: { url: http://h, method: HEAD } }", ".http.method: expected an HTTP method such as GET"),
        ("{ http: { url: http://h, method: 'A B' } }", ".http.method: expected an HTTP method such as GET"),
        ("{ http: { url: http://h, pointer: url } }", ".http.pointer: expected a JSON pointer such as /url"),
        (
            "{ http: { url: http://h, headers: { Upgrade: x } } }",
            ".http.headers.Upgrade: the header field Upgrade"
        ),
        ("{ http: { url: http://h, heders: {} } }", ".http.heders: unknown key; did you mean headers?"),
        ("{ command: [] }", ".command: needs the name of a program, then its arguments"),
        ("{ command: [''] }", ".command: needs the name of a program, then its arguments"),
        ("{ command: a }", ".command: expected a list, not a single value"),
        ("{ command: [a], timeout: 0 }", ".timeout: expected a duration such as 250ms"),
    ])
    func `is told what is wrong with it`(value: String, complaint: String) {
        let complaints = complaints(value)
        #expect(complaints.count == 1)
        #expect(complaints.first?.hasPrefix(complaint) == true, "\(complaints)")
    }

    @Test func `shows no secret`() throws {
        let provider = """
            { http: { url: 'https://s3cret:s3cret@h/p?s3cret', headers: { A: s3cret }, body: s3cret, pointer: /p } }
            """
        for url in [provider, "{ command: [a, s3cret] }", "['ws://s3cret@h?s3cret', 'ws://h?s3cret']"] {
            let text = try scene.checked("connections: { default: { url: \(url) } }")
            #expect(!text.contains("s3cret"))
            #expect(text.contains("***"))
        }
    }
}
