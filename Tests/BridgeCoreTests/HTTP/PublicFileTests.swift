import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `Public files` {
    private func response(_ name: String, _ content: String, _ fields: String...) -> HTTPResponse {
        PublicFile(name: name, content: Array(content.utf8)).response(to: request("GET /", fields: fields))
    }

    private func value(_ name: String, _ response: HTTPResponse) -> String? {
        let values = response.fields.filter { $0.name == name }.map(\.value)
        return values.count == 1 ? values[0] : nil
    }

    @Test(arguments: [
        ("index.html", "text/html; charset=utf-8"), ("app.js", "text/javascript; charset=utf-8"),
        ("a.mjs", "text/javascript; charset=utf-8"), ("app.css", "text/css; charset=utf-8"),
        ("icon.svg", "image/svg+xml"), ("ICON.SVG", "image/svg+xml"), ("a.b.png", "image/png"),
        ("font.woff2", "font/woff2"), ("favicon.ico", "image/vnd.microsoft.icon"),
        ("notes.txt", "text/plain; charset=utf-8"),
        ("unknown.xyz", "application/octet-stream"), ("html", "application/octet-stream"),
        ("a.", "application/octet-stream"), ("", "application/octet-stream"),
    ])
    func `have a type by their extension`(name: String, type: String) {
        #expect(value("Content-Type", response(name, "x")) == type)
    }

    @Test func `protect whoever opens them, and are asked for each time`() {
        let response = response("index.html", "<p>hi")
        #expect(response.status == 200)
        #expect(response.body == Array("<p>hi".utf8))
        #expect(value("Cache-Control", response) == "no-cache")
        #expect(value("X-Content-Type-Options", response) == "nosniff")
        #expect(value("Referrer-Policy", response) == "no-referrer")
        let policy = value("Content-Security-Policy", response)?.split(separator: "; ").sorted()
        #expect(
            policy == [
                "base-uri 'none'", "connect-src 'self'", "default-src 'none'", "form-action 'none'",
                "frame-ancestors 'none'", "img-src 'self' data:", "script-src 'self'", "style-src 'self'",
                "worker-src 'self'",
            ]
        )
    }

    @Test func `have a strong tag that changes with what is in them`() throws {
        let tag = try #require(value("ETag", response("a.js", "one")))
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count > 2)
        #expect(!tag.contains(",") && !tag.contains(" "))
        #expect(value("ETag", response("b.js", "one")) == tag)
        for other in ["", "two", "eno", "one ", "on"] {
            #expect(value("ETag", response("a.js", other)) != tag)
        }
    }

    @Test(arguments: [
        ("TAG", 304), ("W/TAG", 304), ("*", 304), ("\"x\", TAG", 304), ("\"x\",TAG , \"y\"", 304),
        ("\"x\"", 200), ("", 200), ("TAGx", 200), ("W/\"TAG\"", 200), (",", 200),
    ])
    func `are not sent again to who has them`(list: String, status: Int) throws {
        let tag = try #require(value("ETag", response("a.js", "one")))
        let sent = list.split(separator: "TAG", omittingEmptySubsequences: false).joined(separator: tag)
        let answer = response("a.js", "one", "If-None-Match: \(sent)")
        #expect(answer.status == status)
        #expect(value("ETag", answer) == tag)
        #expect(value("Cache-Control", answer) == "no-cache")
        #expect(response("a.js", "two", "If-None-Match: \(tag)").status == 200)
    }

    @Test func `are found by whole paths alone, the front page also at the root`() throws {
        var files = PublicFiles()
        #expect(!files.hasFront)
        #expect(files[[]] == nil)
        try files.add(["index.html"], [1])
        try files.add(["assets", "a.js"], [2])
        #expect(files.hasFront)
        #expect(files[[]]?.content == [1])
        #expect(files[["index.html"]]?.content == [1])
        #expect(files[["assets", "a.js"]]?.content == [2])
        for path in [["assets"], ["assets", ""], ["assets/a.js"], ["a.js"], [""], ["INDEX.HTML"]] {
            #expect(files[path] == nil)
        }
    }

    @Test func `are at most sixty-four`() throws {
        var files = PublicFiles()
        for index in 0..<64 { try files.add(["\(index)"], []) }
        #expect(throws: PublicFiles.Overflow.count) { try files.add(["64"], []) }
        #expect(files[["63"]] != nil)
        #expect(files[["64"]] == nil)
    }

    @Test func `have at most four MiB together`() throws {
        let half = [UInt8](repeating: 0, count: 2 << 20)
        var files = PublicFiles()
        try files.add(["a"], half)
        try files.add(["b"], half)
        #expect(files.bytesLeft == 0)
        #expect(throws: PublicFiles.Overflow.bytes) { try files.add(["c"], [0]) }
        try files.add(["empty"], [])
    }
}
