import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `The configuration of steps and rules` {
    private let scene = ConfigurationScene(environment: ["WORD": "s3cret"])

    private func settings(_ members: String) throws -> ConnectionSettings {
        let yaml = ConfigurationScene.connection(members)
        return try #require(try scene.configuration(yaml).connections["default"]).settings
    }

    private func pointer(_ text: String) throws -> JSONPointer { try #require(JSONPointer(text)) }

    @Test func `knows all that a step can be`() throws {
        let steps = try settings(
            #"""
            onOpen: [
              { send: { text: "{{now}} ${WORD}" } },
              { expect: { json: { /type: hello } } },
              { expect: { any: true }, timeout: 250ms, capture: { a_1: /a, B: "" }, forward: true },
              { when: { equals: x }, send: { base64: AAE= } },
              { when: { captured: a_1 }, send: { text: "{{/a}}{{var:B}}" } },
              { when: { notCaptured: B }, expect: { prefix: b } },
              { when: null, send: { text: a }, expect: null, timeout: null, capture: ~, forward: }
            ]
            """#
        ).onOpen
        var third = Expectation(.any)
        third.timeout = .milliseconds(250)
        third.capture = Capture([("a_1", try pointer("/a")), ("B", try pointer(""))])
        third.isForwarded = true
        let hello = JSONConditions([.init(try pointer("/type"), .string("hello"))])
        #expect(
            steps == [
                OpenStep(.send(try MessageTemplate(text: "{{now}} s3cret"))),
                OpenStep(.expect(Expectation(.json(hello)))),
                OpenStep(.expect(third)),
                OpenStep(.send(try MessageTemplate(base64: "AAE=")), when: .message(.equals("x"))),
                OpenStep(.send(try MessageTemplate(text: "{{/a}}{{var:B}}")), when: .captured("a_1")),
                OpenStep(.expect(Expectation(.prefix("b"))), when: .notCaptured("B")),
                OpenStep(.send(try MessageTemplate(text: "a"))),
            ]
        )
    }

    @Test func `knows all that a rule can do`() throws {
        let rules = try settings(
            #"""
            rules: [
              { when: { any: true }, reply: { text: "{{/a}}" }, capture: { a: /a }, heartbeatInterval: /b },
              { when: { any: true }, action: reconnect },
              { when: { any: true }, action: stop, closeCode: 4000, forward: false },
              { when: { any: true }, action: rotate },
              { when: { any: true }, action: rotate, urlPointer: /url, topic: "a.{{/b}}" },
              { when: { any: true }, action: null, topic: a, reply: null, urlPointer: null, closeCode: ~ }
            ]
            """#
        ).rules
        var expected = Array(repeating: Rule(when: .any), count: 6)
        expected[0].reply = try MessageTemplate(text: "{{/a}}")
        expected[0].capture = Capture([("a", try pointer("/a"))])
        expected[0].heartbeatInterval = try pointer("/b")
        expected[1].action = .reconnect
        expected[2].action = .stop
        expected[2].closeCode = 4000
        expected[2].isForwarded = false
        expected[3].action = .rotate(url: nil)
        expected[4].action = .rotate(url: try pointer("/url"))
        expected[4].topic = try TopicTemplate("a.{{/b}}")
        expected[5].topic = try TopicTemplate("a")
        #expect(rules == expected)
    }

    @Test func `knows requests, and where a session goes on`() throws {
        #expect(try settings("request: null").request == RequestSettings())
        let request = try settings("request: { correlate: /id, id: counter }").request
        #expect(request.correlate == JSONPointer("/id"))
        #expect(request.id == .counter)
        #expect(try settings("request: { correlate: null }").request == RequestSettings())
        let resuming = try settings(
            "resumeUrl: '{{var:a}}/x', rules: [{ when: { any: true }, capture: { a: /a } }]"
        )
        #expect(resuming.resumeURL == (try ResumeURL("{{var:a}}/x")))
        #expect(try settings("resumeUrl: null").resumeURL == nil)
    }

    @Test func `lets heartbeats use what is captured`() throws {
        let heartbeat = "heartbeat: { send: { text: '{{var:a}}' } }"
        #expect(
            try settings("\(heartbeat), rules: [{ when: { any: true }, capture: { a: /a } }]").rules.count
                == 1
        )
        #expect(
            try settings("\(heartbeat), onOpen: [{ expect: { any: true }, capture: { a: /a } }]").onOpen.count
                == 1
        )
        let complaints = scene.complaints(ConfigurationScene.connection(heartbeat))
        #expect(
            complaints == ["1: connections.default.heartbeat.send.text: nothing captures the variable `a`"]
        )
    }

    @Test func `has bounds`() throws {
        func list(_ element: String, _ count: Int) -> String {
            "[" + Array(repeating: element, count: count).joined(separator: ",") + "]"
        }
        let step = "{ send: { text: a } }"
        let rule = "{ when: { any: true }, forward: false }"
        #expect(try settings("onOpen: \(list(step, 100)), rules: \(list(rule, 1000))").rules.count == 1000)
        let much = ConfigurationScene.connection("onOpen: \(list(step, 101)), rules: \(list(rule, 1001))")
        #expect(
            scene.complaints(much) == [
                "1: connections.default.onOpen: there are more than 100 steps",
                "1: connections.default.rules: there are more than 1000 rules",
            ]
        )
    }

    @Test func `shows no payload, and what it shows reads as a configuration`() throws {
        let members = #"""
            resumeUrl: "ws://s3cret/{{var:a}}/s3cret/{{var:b}}",
            onOpen: [
              { send: { text: "s3cret ${WORD}" } },
              { expect: { json: { /a: s3cret, /b: 4711 } }, timeout: 3s, capture: { a: /x, b: /y }, forward: true },
              { when: { equals: s3cret }, send: { base64: czNjcmV0 } },
              { when: { captured: a }, expect: { regex: s3cret } }
            ],
            rules: [
              { when: { contains: s3cret }, reply: { text: "s3cret {{/a}}" }, topic: "orders.{{/b}}", forward: false },
              { when: { any: true }, action: rotate, urlPointer: /u, heartbeatInterval: /h },
              { when: { any: true }, action: stop, closeCode: 4000 }
            ],
            request: { correlate: /id, id: counter }
            """#
        let text = try scene.checked(ConfigurationScene.connection(members))
        #expect(!text.contains("s3cret"))
        #expect(!text.contains("czNjcmV0"))
        #expect(try scene.checked(text) == text)
        for line in [
            "resumeUrl: \"{{var:a}}***{{var:b}}***\"", "/b: 4711", "timeout: 3s", "a: /x", "forward: true",
            "captured: a",
            "topic: \"orders.{{/b}}\"", "action: rotate", "urlPointer: /u", "heartbeatInterval: /h",
            "closeCode: 4000",
            "correlate: /id", "id: counter",
        ] {
            #expect(text.contains(line), "\(line)")
        }
    }

    @Test func `shows no number that a reference stands for`() throws {
        let yaml =
            "connections:\n  a:\n    url: ws://h\n    rules:\n      - forward: false\n"
            + "        when:\n          json:\n            /a: ${PIN}\n"
        let scene = ConfigurationScene(environment: ["PIN": "4711"])
        let text = try scene.checked(yaml)
        #expect(!text.contains("4711"))
        #expect(text.contains("/a: \"***\""))
    }
}
