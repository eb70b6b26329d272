import BridgeCore
import Testing

@Suite struct `HTTP target` {
    private func target(_ text: String) throws(Problem) -> HTTPTarget {
        try HTTPTarget(parsing: Array(text.utf8))
    }

    @Test(
        arguments: [
            ("/", [], []),
            ("/a", ["a"], []),
            ("/a/", ["a", ""], []),
            ("//a", ["", "a"], []),
            ("/a%20b/%c3%A9/é", ["a b", "é", "é"], []),
            ("/a%2Fb", ["a/b"], []),
            ("/a+b", ["a+b"], []),
            ("/...", ["..."], []),
            ("/a?", ["a"], []),
            ("/a?b", ["a"], [QueryPair("b", "")]),
            ("/a?b=c=d&&e=%26%3d+%2B", ["a"], [QueryPair("b", "c=d"), QueryPair("e", "&= +")]),
            ("/a?b=1&b=2", ["a"], [QueryPair("b", "1"), QueryPair("b", "2")]),
            ("/a?/../?", ["a"], [QueryPair("/../?", "")]),
            ("?", nil, nil),
        ] as [(String, [String]?, [QueryPair]?)]
    )
    func `is decoded piece by piece`(text: String, path: [String]?, query: [QueryPair]?) {
        let parsed = try? target(text)
        #expect(parsed?.path == path)
        #expect(parsed?.query == query)
        #expect(parsed?.authority == nil)
    }

    @Test(arguments: [
        ("http://a:1/b?c=d", "a:1", ["b"]), ("HTTPS://a", "a", []), ("http://a?b", "a", []),
        ("http://[::1]/", "[::1]", []),
    ])
    func `in absolute form has an authority`(text: String, authority: String, path: [String]) throws {
        let parsed = try target(text)
        #expect(parsed.authority == authority)
        #expect(parsed.path == path)
    }

    @Test func `an asterisk is the server itself`() throws {
        let parsed = try target("*")
        #expect(parsed.isAsterisk)
        #expect(parsed.path == [])
    }

    @Test(arguments: [
        "", "a", "a:80", "?a", "**", "http:/a", "http://", "http:///a", "http://u@a/", "ftp://a/",
        "/%", "/%1", "/%g0", "/%0g", "/%%20", "/%00", "/a%00b", "/%ff", "/%c3", "/%c0%80", "/%ed%a0%80",
        "/a b", "/a\tb", "/a\nb", "/a\u{7F}", "/a\u{0}", "/a#b",
        "/.", "/..", "/../a", "/a/..", "/a/./b", "/%2e", "/%2E%2e/a", "/.%2e",
    ])
    func `is refused when its path is malformed`(text: String) {
        let refusal = problem { () throws(Problem) in try target(text) }
        #expect(refusal?.kind == .invalidTarget)
    }

    @Test(arguments: [
        ("/a?x=%", "x"), ("/a?x=%zz", "x"), ("/a?x=%00", "x"), ("/a?b=1&x=%ff", "x"), ("/a?%=1", "query"),
        ("/a?%00", "query"),
    ])
    func `is refused by the name of a malformed parameter`(text: String, name: String) {
        let refusal = problem { () throws(Problem) in try target(text) }
        #expect(refusal?.kind == .invalidParameter)
        #expect(refusal?.detail.hasPrefix("`\(name)`: ") == true)
    }

    @Test func `that is not UTF-8 is refused`() {
        let refusal = problem { () throws(Problem) in try HTTPTarget(parsing: [0x2F, 0xC3]) }
        #expect(refusal?.kind == .invalidTarget)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `never traps, and what it takes has neither NUL nor dot segments`(seed: UInt64) {
        var input = RandomInput(seed: seed)
        let pieces = [
            "/", "%", "%2", "%2e", "..", "?", "&", "=", "http://", "*", "[", "]", ":", "@", "é", "%c3", "a",
        ]
        for _ in 0..<500 {
            guard let parsed = try? HTTPTarget(parsing: input.bytes(of: pieces)) else { continue }
            let texts = parsed.path + parsed.query.flatMap { [$0.name, $0.value] }
            #expect(!texts.contains { $0.utf8.contains(0) })
            #expect(!parsed.path.contains("..") && !parsed.path.contains("."))
        }
    }
}
