import BridgeCore
import Testing

@Suite struct `The configuration of heartbeats` {
    private let scene = ConfigurationScene(environment: ["WORD": "s3cret"])

    private func heartbeat(_ members: String) throws -> HeartbeatSettings? {
        let yaml = ConfigurationScene.connection("heartbeat: { \(members) }")
        return try scene.configuration(yaml).connections["default"]?.settings.heartbeat
    }

    private func matcher(_ text: String) throws -> Matcher? { try heartbeat("expect: \(text)")?.expect }

    @Test func `knows what is sent`() throws {
        #expect(try heartbeat("send: ping")?.send == .ping)
        #expect(try heartbeat("send: none")?.send == HeartbeatSettings.Beat.none)
        #expect(try heartbeat("send: { text: ping }")?.send == .message(try MessageTemplate(text: "ping")))
        #expect(
            try heartbeat("send: { base64: AAE= }, expect: { any: true }")?.send
                == .message(try MessageTemplate(base64: "AAE="))
        )
        #expect(
            try heartbeat("send: { text: \"${WORD}\" }")?.send
                == .message(try MessageTemplate(text: "s3cret"))
        )
    }

    @Test func `knows all kinds of matchers`() throws {
        #expect(try matcher("{ equals: pong }") == .equals("pong"))
        #expect(try matcher("{ equals: \"\" }") == .equals(""))
        #expect(try matcher("{ contains: pong }") == .contains(Needle("pong")))
        #expect(try matcher("{ prefix: pong }") == .prefix("pong"))
        #expect(try matcher("{ regex: \"^p.ng$\" }") == .regex(try RegularExpression("^p.ng$")))
        #expect(try matcher("{ base64: AAEC }") == .binary([0, 1, 2]))
        #expect(try matcher("{ any: true }") == .any)
        #expect(try matcher("null") == nil)
    }

    @Test(
        arguments: [
            ("11", .number(try #require(JSONNumber("11")))), ("\"11\"", .string("11")), ("true", .bool(true)),
            ("\"true\"", .string("true")), ("null", nil), ("\"null\"", .string("null")),
            ("pong", .string("pong")),
            ("1.50", .number(try #require(JSONNumber("1.5")))), ("0x1", .string("0x1")),
            ("yes", .string("yes")),
            ("", nil), ("\"\"", .string("")), ("\"${WORD}\"", .string("s3cret")),
        ] as [(String, JSONScalar?)]
    )
    func `takes what stands at a pointer for what it would be in JSON`(text: String, value: JSONScalar?)
        throws
    {
        let pointer = try #require(JSONPointer("/a"))
        #expect(try matcher("{ json: { /a: \(text) } }") == .json(JSONConditions([.init(pointer, value)])))
    }

    private static let mistakes: [(String, String)] = [
        ("send: pong", "send: expected ping, none, { text: … } or { base64: … }, not `pong`"),
        ("send: { txt: a }", "send.txt: unknown key; did you mean text?"),
        ("send: { text: a, base64: AAEC }", "send: expected exactly one of text, base64"),
        ("send: {}", "send: expected exactly one of text, base64"),
        ("send: [a]", "send: expected a mapping of keys to values, not a list"),
        ("send: { text: \"{{what}}\" }", "send.text: expected a template in which {{…}} is {{POINTER}}"),
        ("send: { text: null }", "send.text: expected a text, in which templates may stand, not null"),
        ("send: { base64: \"?\" }, expect: { any: true }", "send.base64: expected base64 with its padding"),
        ("send: { base64: AAEC }", "send: needs expect: what the answer to a binary heartbeat is"),
        ("send: { text: \"{{/a}}\" }", "send.text: there is no message at hand"),
        ("send: { text: \"{{var:a}}\" }", "send.text: nothing captures the variable `a`"),
        (
            "reply: { text: \"{{var:b}}\" }, expect: { any: true }",
            "reply.text: nothing captures the variable `b`"
        ),
        ("reply: { text: a }", "reply: needs expect: what is to be replied to"),
        ("reply: ping", "reply: expected a mapping of keys to values, not a single value"),
        ("send: none, alive: answer", "alive: needs expect: what the answer is"),
        ("alive: all", "alive: expected any, message or answer, not `all`"),
        ("expect: pong", "expect: expected a mapping of keys to values, not a single value"),
        ("expect: { equals: a, prefix: b }", "expect: expected exactly one of equals, contains, prefix"),
        ("expect: { equal: a }", "expect.equal: unknown key; did you mean equals?"),
        ("expect: { regex: \"(a\" }", "expect.regex: expected a regular expression, but a `(` is not closed"),
        ("expect: { regex: \"(?=a)\" }", "expect.regex: expected a regular expression, but of groups"),
        ("expect: { base64: A }", "expect.base64: expected base64 with its padding"),
        ("expect: { any: false }", "expect.any: expected true, not `false`"),
        ("expect: { json: {} }", "expect.json: expected pointers and the values that must stand there"),
        (
            "expect: { json: { a: 1 } }",
            "expect.json.a: expected a JSON pointer, which is empty or begins with /"
        ),
        (
            "expect: { json: { /a: [1] } }",
            "expect.json./a: expected a text, a number, true, false or null, not a list"
        ),
    ]

    @Test(arguments: mistakes)
    func `complains about a mistake once, at its line`(members: String, complaint: String) throws {
        let lines = members.replacing(": {", with: ":\n {")
        let yaml = "connections: { default: { url: wss://h/,\n heartbeat: {\n \(lines) } } }"
        let complaints = scene.complaints(yaml)
        #expect(complaints.count == 1)
        let text = try #require(complaints.first)
        #expect(text.contains(": connections.default.heartbeat." + complaint), "\(text)")
        let line = try #require(text.split(separator: ":").first.flatMap { Int($0) })
        #expect(line >= 3)
    }

    @Test func `sends no message where receiveOnly rules that out`() throws {
        let members = "receiveOnly: true, heartbeat: { send: { text: a }, reply: { text: b } }"
        let complaints = scene.complaints(ConfigurationScene.connection(members))
        #expect(
            complaints
                == ["send", "reply"].map {
                    "1: connections.default.heartbeat.\($0): is a message, which receiveOnly rules out"
                }
        )
        let silent = "receiveOnly: true, heartbeat: { send: none, expect: { any: true }, alive: answer }"
        #expect(scene.complaints(ConfigurationScene.connection(silent)).isEmpty)
    }

    @Test func `shows no payload, and what it shows reads as a configuration`() throws {
        for members in [
            "send: { text: s3cret }, expect: { equals: s3cret }, reply: { text: s3cret }",
            "send: { base64: czNjcmV0 }, expect: { base64: czNjcmV0 }, reply: { base64: czNjcmV0 }",
            "expect: { contains: s3cret }", "expect: { prefix: s3cret }", "expect: { regex: s3cret }",
            "expect: { json: { /a: s3cret, /b: 11, /c: true, /d: null } }", "expect: { any: true }",
        ] {
            let text = try scene.checked(ConfigurationScene.connection("heartbeat: { \(members) }"))
            #expect(!text.contains("s3cret"))
            #expect(!text.contains("czNjcmV0"))
            let again = try scene.checked(text)
            #expect(again == text)
        }
        let json = try scene.checked(
            ConfigurationScene.connection(
                "heartbeat: { expect: { json: { /a: s3cret, /b: 11, /c: true, /d: null } } }"
            )
        )
        for line in ["/a: \"***\"", "/b: 11", "/c: true", "/d: null"] {
            #expect(json.contains(line))
        }
    }
}
