import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `Request bodies` {
    private func admit(_ fields: [String], limit: Int = 10, version: HTTPVersion = .http11) -> Admission {
        gate { $0.maxBodyBytes = limit }.admit(
            request("POST /messages", fields: fields, version: version),
            connections: ["default"]
        )
    }

    @Test(arguments: [
        ([], "serve"), (["Content-Length: 0"], "serve"), (["Content-Length: 10"], "serve"),
        (["Content-Length: 0010"], "serve"), (["Transfer-Encoding: chunked"], "serve"),
        (["Transfer-Encoding: Chunked"], "serve"), (["Content-Length: 11"], "413 message-too-large"),
        (["Content-Length: 18446744073709551615"], "413 message-too-large"),
        (["Content-Length: 18446744073709551616"], "400 invalid-framing"),
        (["Content-Length:"], "400 invalid-framing"),
        (["Content-Length: -1"], "400 invalid-framing"), (["Content-Length: +1"], "400 invalid-framing"),
        (["Content-Length: 1, 1"], "400 invalid-framing"), (["Content-Length: 1x"], "400 invalid-framing"),
        (["Content-Length: 1", "Content-Length: 1"], "400 invalid-framing"),
        (["Content-Length: 1", "Transfer-Encoding: chunked"], "400 invalid-framing"),
        (["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], "400 invalid-framing"),
        (["Transfer-Encoding: gzip, chunked"], "400 invalid-framing"),
        (["Transfer-Encoding: identity"], "400 invalid-framing"),
    ])
    func `are judged by the head`(fields: [String], expected: String) {
        let admission = admit(fields)
        #expect(admission.summary == expected)
        #expect((admission.response?.closesConnection ?? false) == (expected != "serve"))
    }

    @Test func `of HTTP 1.0 are not chunked`() {
        #expect(admit(["Transfer-Encoding: chunked"], version: .http10).summary == "400 invalid-framing")
    }

    @Test func `of those who may not send are not called too large`() {
        let gate = gate { $0.tokens = [AccessToken(name: "t", secret: Secret("right"))] }
        let admission = gate.admit(
            request("POST /messages", "Content-Length: 99999999"),
            connections: ["default"]
        )
        #expect(admission.summary == "401 unauthorized")
    }

    private func intake(_ framing: RequestFraming = .chunked, limit: Int) throws -> BodyIntake {
        try BodyIntake(framing, limit: limit)
    }

    @Test(arguments: [[], [10], [3, 3, 4], [0, 9, 1, 0]])
    func `within the limit are gathered whole`(chunks: [Int]) throws {
        var body = try intake(limit: 10)
        var sent: [UInt8] = []
        for count in chunks {
            let chunk = (0..<count).map { UInt8(sent.count + $0) }
            #expect(body.receive(chunk) == .proceed)
            sent += chunk
        }
        #expect(try body.finish() == sent)
    }

    /// How many bytes a chunked body may have before what becomes of it changes.
    @Test(
        arguments: [
            (10, [11], .proceed), (10, [10, 1], .proceed), (10, [40], .proceed), (10, [41], .close),
            (10, [10, 10, 10, 10], .proceed), (10, [10, 10, 10, 10, 1], .close), (0, [1], .close),
            (Int.max, [1], .proceed),
        ] as [(Int, [Int], BodyIntake.Verdict)]
    )
    func `over the limit are thrown away up to four times the limit`(
        limit: Int,
        chunks: [Int],
        verdict: BodyIntake.Verdict
    ) throws {
        var body = try intake(limit: limit)
        var last = BodyIntake.Verdict.proceed
        for count in chunks { last = body.receive(repeatElement(0, count: count)) }
        #expect(last == verdict)
        let isOver = chunks.reduce(0, +) > limit
        let refusal = problem { () throws(Problem) in try body.finish() }
        #expect(refusal?.kind == (isOver ? .messageTooLarge : nil))
    }

    @Test(arguments: [
        ([], Message.Kind.text), (["Content-Type: text/plain"], .text),
        (["Content-Type: application/json"], .text),
        (["Content-Type: application/x-www-form-urlencoded"], .text), (["Content-Type: nonsense"], .text),
        (["Content-Type:"], .text), (["Content-Type: application/octet-stream"], .binary),
        (["Content-Type: Application/Octet-Stream; a=b"], .binary), (["Content-Type: image/png"], .binary),
        (["Content-Type: audio/ogg"], .binary), (["Content-Type: video/mp4 ; x"], .binary),
        (["Content-Type: imagex/png"], .text),
    ])
    func `are text or binary by their type`(fields: [String], kind: Message.Kind) {
        #expect(admit(fields).route == .send(connection: "default", SendRequest(.message(kind))))
    }

    @Test(arguments: [
        ("?type=binary", "text/plain", "binary"), ("?type=text", "application/octet-stream", "text"),
        ("?type=binary", "multipart/form-data; boundary=x", "415 unsupported-media-type"),
        ("", "multipart/form-data; boundary=x", "415 unsupported-media-type"),
        ("", "application/x-ndjson", "lines"), ("?type=text", "Application/X-NDJSON;charset=utf-8", "lines"),
        ("?type=binary", "application/x-ndjson", "400 invalid-parameter"),
    ])
    func `are what the parameter says unless they cannot be`(
        query: String,
        type: String,
        expected: String
    ) {
        let head = request("POST /messages\(query)", "Content-Type: \(type)")
        let admission = gate().admit(head, connections: ["default"])
        let outcome =
            if case .send(_, let order) = admission.route {
                switch order.form {
                case .message(.text): "text"
                case .message(.binary): "binary"
                case .lines: "lines"
                }
            } else {
                admission.summary
            }
        #expect(outcome == expected)
    }

    @Test(arguments: [
        (["Content-Encoding: gzip"], false), (["Content-Encoding: GZIP"], false),
        (["Content-Encoding: identity, br"], false),
        (["Content-Encoding: identity", "Content-Encoding: deflate"], false),
        (["Content-Encoding: identity"], true), (["Content-Encoding: Identity , identity"], true),
        (["Content-Encoding:"], true), (["Content-Type: text/plain; charset=iso-8859-1"], false),
        (["Content-Type: text/plain; charset=UTF-16"], false),
        (["Content-Type: application/json;format=x; Charset = \"latin1\" "], false),
        (["Content-Type: text/plain; charset=utf-8"], true),
        (["Content-Type: text/plain;charset=\"UTF-8\""], true),
        (["Content-Type: text/plain; charset=us-ascii; format=flowed"], true),
        (["Content-Type: text/plain; charset"], true), (["Content-Type: text/plain; xcharset=latin1"], true),
    ])
    func `of text are taken only when their bytes are its UTF-8`(fields: [String], isTaken: Bool) {
        let refused = "415 unsupported-media-type"
        #expect(admit(fields).summary == (isTaken ? "serve" : refused))
        let binary = request("POST /messages?type=binary", fields: fields)
        #expect(gate().admit(binary, connections: ["default"]).summary == "serve")
    }

    @Test(arguments: [[], [0x41], Array("é😀".utf8), [0]])
    func `of UTF-8 become messages verbatim`(bytes: [UInt8]) throws {
        let text = try Message(.text, body: bytes)
        #expect(text == Message(.text, bytes))
    }

    @Test(arguments: [
        [0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x41, 0x80],
    ])
    func `of other bytes are binary or refused`(bytes: [UInt8]) throws {
        let refusal = problem { () throws(Problem) in try Message(.text, body: bytes) }
        let binary = try Message(.binary, body: bytes)
        #expect(refusal?.kind == .invalidUTF8)
        #expect(binary.bytes == bytes)
    }
}

@Suite struct `Disconnect requests` {
    @Test(arguments: [
        ("", 1000, ""), ("{}", 1000, ""), (#"{"code":1001}"#, 1001, ""),
        (#" { "code" : 4999, "reason" : "é" } "#, 4999, "é"),
        (#"{"reason":"bye"}"#, 1000, "bye"), (#"{"code":null,"reason":null}"#, 1000, ""),
        (#"{"code":1003}"#, 1003, ""),
        (#"{"code":1007}"#, 1007, ""), (#"{"code":1014}"#, 1014, ""), (#"{"code":3000}"#, 3000, ""),
    ])
    func `say how to close`(body: String, code: UInt16, reason: String) throws {
        let read = try DisconnectRequest(body: Array(body.utf8))
        #expect(read.code == code)
        #expect(read.reason == reason)
    }

    @Test(arguments: [
        " ", "x", "[]", "null", "1000", "\"\"", "{", "{}{}", #"{"code":"1000"}"#, #"{"code":true}"#,
        #"{"code":1000.5}"#,
        #"{"code":0}"#, #"{"code":-1}"#, #"{"code":999}"#, #"{"code":1004}"#, #"{"code":1005}"#,
        #"{"code":1006}"#,
        #"{"code":1015}"#, #"{"code":1016}"#, #"{"code":2999}"#, #"{"code":5000}"#, #"{"code":66536}"#,
        #"{"code":99999999999999999999}"#, #"{"code":1e99}"#, #"{"reason":1}"#, #"{"reason":"\ud800"}"#,
        #"{"kode":1000}"#,
        #"{"code":1000,"why":"x"}"#,
    ])
    func `that say something else are refused`(body: String) {
        let refusal = problem { () throws(Problem) in try DisconnectRequest(body: Array(body.utf8)) }
        #expect(refusal?.kind == .invalidBody)
    }

    @Test(arguments: [(61, true), (62, false)])
    func `have a reason of at most 123 bytes`(count: Int, isTaken: Bool) {
        let reason = String(repeating: "é", count: count) + "x"
        let body = Array(#"{"reason":"\#(reason)"}"#.utf8)
        let refusal = problem { () throws(Problem) in try DisconnectRequest(body: body) }
        #expect((refusal == nil) == isTaken)
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `never trap`(seed: UInt64) {
        var input = RandomInput(seed: seed)
        let pieces = [
            "{", "}", "\"code\"", ":", ",", "1000", "\"reason\"", "\"", "null", "[", "\\u", "1e9", "-",
        ]
        for _ in 0..<200 {
            guard let read = try? DisconnectRequest(body: input.bytes(of: pieces)) else { continue }
            #expect(read.reason.utf8.count <= 123)
        }
    }
}
