import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `Redirects` {
    private func follow(
        _ location: String?,
        from base: String,
        status: Int = 302
    ) throws -> Result<RedirectTrail.Step, RedirectRefusal> {
        var trail = RedirectTrail()
        let url = try WebSocketURL(base)
        return Result { () throws(RedirectRefusal) in
            try trail.follow(RedirectAnswer(status: status, location: location), from: url)
        }
    }

    @Test(arguments: [
        ("ws://h/a/b", "c", "ws://h/a/c", false), ("ws://h/", "wss://h/", "wss://h/", true),
        ("wss://h/", "https://h/x", "wss://h/x", false), ("wss://h/", "//other/", "wss://other/", true),
        ("ws://h/", "ws://h:81/", "ws://h:81/", true), ("ws+unix:/s:/", "/x", "ws+unix:/s:/x", false),
        ("ws+unix:/s:/", "ws://h/", "ws://h/", true),
    ])
    func `are followed, and tell whether the origin is another`(
        base: String,
        location: String,
        url: String,
        crosses: Bool
    ) throws {
        let step = try follow(location, from: base).get()
        #expect(step.url.redacted == url)
        #expect(step.crossesOrigin == crosses)
    }

    @Test(
        arguments: [
            ("wss://h/", "ws://h/", .insecure(status: 302)),
            ("wss://h/", "http://other/", .insecure(status: 302)),
            ("wss+unix:/s:/", "ws://h/", .insecure(status: 302)), ("ws://h/", nil, .noLocation(status: 302)),
            ("ws://h/", "ftp://h/", .wrongURL(status: 302, .scheme)),
            ("ws://h/", "http://h/ x", .wrongURL(status: 302, .controlCharacterOrSpace)),
            ("ws://h/", "ws://user:password@h/", .credentials(status: 302)),
            ("ws://h/", "ws+unix:/s:/", .unixSocket(status: 302)),
            ("ws://h/", "wss+unix:/s:/", .unixSocket(status: 302)),
            ("ws+unix:/s:/", "ws+unix:/t:/", .unixSocket(status: 302)),
        ] as [(String, String?, RedirectRefusal)]
    )
    func `are refused`(base: String, location: String?, refusal: RedirectRefusal) throws {
        #expect(try follow(location, from: base) == .failure(refusal))
    }

    @Test func `are bounded`() throws {
        var trail = RedirectTrail()
        let url = try WebSocketURL("ws://h/")
        let answer = RedirectAnswer(status: 307, location: "/")
        for count in 1...5 {
            _ = try trail.follow(answer, from: url)
            #expect(trail.count == count)
        }
        #expect(throws: RedirectRefusal.tooMany(status: 307)) { try trail.follow(answer, from: url) }
    }

    @Test func `keep the credentials of the URL within an origin alone`() throws {
        let base = "ws://user:password@h/"
        #expect(try follow("/x", from: base).get().url.credentials?.user == "user")
        #expect(try follow("http://h/x", from: base).get().url.credentials?.user == "user")
        #expect(try follow("wss://h/x", from: base).get().url.credentials == nil)
        #expect(try follow("ws://h.other/", from: base).get().url.credentials == nil)
    }

    @Test(arguments: [
        ("Authorization", false), ("cookie", false), ("Host", false), ("X-Api-Key", false),
        ("X-AUTH-TOKEN", false),
        ("Proxy-Authorization", false), ("X-Amz-Security-Token", false), ("Client-Secret", false),
        ("User-Agent", true), ("Origin", true), ("X-Trace-Id", true), ("Accept-Language", true),
    ])
    func `leave behind what belongs to an origin`(name: String, isKept: Bool) throws {
        var terms = ClientHandshake.Terms(url: try WebSocketURL("ws://a/"))
        terms.fields = [HTTPField(name, "v")]
        let url = try WebSocketURL("ws://b/")
        #expect(
            terms.redirected(by: .init(url: url, crossesOrigin: true)).fields == (isKept ? terms.fields : [])
        )
        #expect(terms.redirected(by: .init(url: url, crossesOrigin: false)).fields == terms.fields)
        #expect(terms.redirected(by: .init(url: url, crossesOrigin: true)).url == url)
    }

    @Test func `that are refused say why, and never where to`() {
        let refusals: [RedirectRefusal] = [
            .tooMany(status: 301), .noLocation(status: 301), .wrongURL(status: 301, .scheme),
            .insecure(status: 301), .credentials(status: 301), .unixSocket(status: 301),
        ]
        let failures = refusals.map { DialFailure($0) }
        #expect(Set(failures.map(\.error)).count == refusals.count)
        #expect(failures.allSatisfy { $0.phase == .handshake && $0.status == 301 })
        #expect(failures[0].error == "the upstream redirected more than 5 times (HTTP status 301)")
    }
}
