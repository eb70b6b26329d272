import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `The answer of a provider of URLs` {
    private func url(_ answer: String, at pointer: String? = nil) throws -> Result<String, URLAnswerFailure> {
        let place = try pointer.map { try #require(JSONPointer($0)) }
        return Result { () throws(URLAnswerFailure) in
            try URLAnswer(Array(answer.utf8)).url(at: place, isLocal: false).redacted
        }
    }

    @Test(arguments: [
        "ws://h/x", "ws://h/x\n", "\r\n\t ws://h/x \r\n\r\n", "http://h/x", "ws://user:password@h/x?secret",
    ])
    func `may be the URL alone`(answer: String) throws {
        #expect(try url(answer).get() == "ws://h/x")
    }

    @Test(arguments: [
        (#"{"url":"ws://h/x"}"#, "/url"), (#"{"a":[0,{"b/c":"ws://h/x"}]}"#, "/a/1/b~1c"),
        (#""ws:\/\/h\/x""#, ""), (#"{"":"ws://h/x"}"#, "/"), (#"{"~":"ws://h/x"}"#, "/~0"),
        (#"{"0":"ws://h/x"}"#, "/0"), (#" {"ok":true,"url":"ws://h/\u0078"} "#, "/url"),
    ])
    func `may be JSON that holds it`(answer: String, pointer: String) throws {
        #expect(try url(answer, at: pointer).get() == "ws://h/x")
    }

    @Test(
        arguments: [
            ("", nil, "its answer is empty"), (" \n", nil, "its answer is empty"),
            ("s3cret", nil, "its answer is no URL to dial: it must start with ws://"),
            ("ws://h/\nws://i/", nil, "its answer is no URL to dial: it has a control character"),
            ("ws://h/#s3cret", nil, "its answer is no URL to dial: it has a fragment"),
            ("<html>s3cret</html>", "/url", "its answer is not JSON"), ("", "/url", "its answer is not JSON"),
            (#"{"ok":false,"error":"s3cret"}"#, "/url", "there is nothing at /url in its answer"),
            (#"{"url":{"s3cret":1}}"#, "/url", "there is no text at /url in its answer"),
            (#"{"url":null}"#, "/url", "there is no text at /url in its answer"),
            (#"["ws://h/"]"#, "/00", "there is nothing at /00 in its answer"),
            (#"["ws://h/"]"#, "/1", "there is nothing at /1 in its answer"),
            (#"{"url":"s3cret"}"#, "/url", "its answer is no URL to dial: it must start with ws://"),
            (String(repeating: "[", count: 60_000), "/0", "its answer is not JSON"),
        ] as [(String, String?, String)]
    )
    func `is refused, without a word of it`(answer: String, pointer: String?, text: String) throws {
        guard case .failure(let failure) = try url(answer, at: pointer) else {
            Issue.record("it is taken")
            return
        }
        #expect(failure.text.hasPrefix(text))
        #expect(!failure.text.contains("s3cret"))
    }

    @Test func `must be UTF-8`() {
        #expect(throws: URLAnswerFailure("its answer is not UTF-8")) {
            try URLAnswer(Array("ws://h/".utf8) + [0xFF]).url(isLocal: true)
        }
    }

    @Test(arguments: ["ws+unix:/run/s3cret:/", "WSS+UNIX:///run/s3cret:/"])
    func `may name a socket of this machine if it comes from there`(text: String) throws {
        let answer = URLAnswer(Array(text.utf8))
        #expect(throws: URLAnswerFailure("its answer is a unix socket, which is not dialled")) {
            try answer.url(isLocal: false)
        }
        let url = try answer.url(isLocal: true)
        #expect(url.endpoint == .unix(path: "/run/s3cret"))
    }

    @Test(arguments: ["url", "/~", "/~2", "/a~", "a/b"])
    func `is not looked into where a pointer is none`(pointer: String) {
        #expect(JSONPointer(pointer) == nil)
    }
}
