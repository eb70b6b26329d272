import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `Requests to send` {
    private func order(_ line: String, _ fields: [String] = []) -> SendRequest? {
        let admission = gate().admit(request(line, fields: fields), connections: ["default"])
        guard case .send("default", let order) = admission.route else { return nil }
        return order
    }

    @Test(
        arguments: [
            ("", [], nil), ("?wait=5s", [], .seconds(5)), ("?wait=250ms", [], .milliseconds(250)),
            ("?wait=300", [], .seconds(300)), ("?wait=0", [], nil), ("?wait=0ms", [], nil),
            ("", ["Prefer: wait=5"], .seconds(5)), ("", ["Prefer: respond-async, Wait = 7"], .seconds(7)),
            ("", ["Prefer: handling=lenient", "Prefer: wait=7; x=y"], .seconds(7)),
            ("", ["Prefer: wait=99999"], .seconds(300)), ("", ["Prefer: wait=0"], nil),
            ("", ["Prefer: wait=soon"], nil), ("", ["Prefer: wait"], nil), ("", ["Prefer: waiting=5"], nil),
            ("", ["Prefer: wait=99999999999999999999"], nil), ("", ["Prefer: ,;=,"], nil),
            ("?wait=1s", ["Prefer: wait=5"], .seconds(1)), ("?wait=0", ["Prefer: wait=5"], nil),
        ] as [(String, [String], Duration?)]
    )
    func `wait as they say`(query: String, fields: [String], wait: Duration?) throws {
        let order = try #require(self.order("POST /messages\(query)", fields))
        #expect(order.wait == wait)
    }

    @Test(arguments: [("", true), ("?queue=true", true), ("?queue=false", false)])
    func `may be queued unless they say no`(query: String, mayQueue: Bool) {
        #expect(order("POST /messages\(query)")?.mayQueue == mayQueue)
    }

    @Test(
        arguments: [
            ([], nil), (["Idempotency-Key: a"], "a"),
            (["idempotency-key: \"8e03978e-40d5\""], "\"8e03978e-40d5\""),
            (["Idempotency-Key: " + String(repeating: "k", count: 255)], String(repeating: "k", count: 255)),
        ] as [([String], String?)]
    )
    func `have a key`(fields: [String], key: String?) throws {
        let order = try #require(self.order("POST /messages", fields))
        #expect(order.idempotencyKey == key)
    }

    @Test(arguments: [
        ["Idempotency-Key:"], ["Idempotency-Key: a b"], ["Idempotency-Key: \u{E9}"],
        ["Idempotency-Key: a\u{7F}"],
        ["Idempotency-Key: " + String(repeating: "k", count: 256)],
        ["Idempotency-Key: a", "Idempotency-Key: a"],
    ])
    func `with a key that is none are refused`(fields: [String]) {
        let admission = gate().admit(request("POST /messages", fields: fields), connections: ["default"])
        #expect(admission.summary == "400 invalid-parameter")
        #expect(admission.response?.text.contains("`Idempotency-Key`") == true)
    }

    @Test(
        arguments: [
            ("", []), ("\n\r\n\n", []), ("a", ["a"]), ("a\n", ["a"]), ("a\r\nb\r\n", ["a", "b"]),
            ("a\n\nb", ["a", "b"]),
            ("a\r\r\n", ["a\r"]), ("\ra\n", ["\ra"]), (" \n", [" "]), ("é\u{0}\n{}", ["é\u{0}", "{}"]),
            ("a\u{2028}b", ["a\u{2028}b"]),
        ] as [(String, [String])]
    )
    func `have a text message a line`(body: String, texts: [String]) throws {
        let messages = try SendRequest(.lines).messages(in: Array(body.utf8))
        #expect(messages == texts.map { Message(.text, Array($0.utf8)) })
    }

    @Test func `have no message at all if one line is not UTF-8`() {
        for (before, number) in [("", 1), ("good\n", 2), ("good\r\n\n\r\ngood\n", 5)] {
            let body = Array(before.utf8) + [0xFF, 0x0A, 0xFF]
            let refusal = problem { () throws(Problem) in try SendRequest(.lines).messages(in: body) }
            #expect(refusal?.kind == .invalidUTF8)
            #expect(refusal?.detail.contains("line \(number) ") ?? false)
        }
    }

    @Test func `are one message otherwise, line ends and all`() throws {
        let body = Array("a\r\n\nb".utf8)
        #expect(try SendRequest(.message(.text)).messages(in: body) == [Message(.text, body)])
        #expect(try SendRequest(.message(.binary)).messages(in: [0xFF]) == [Message(.binary, [0xFF])])
    }
}
