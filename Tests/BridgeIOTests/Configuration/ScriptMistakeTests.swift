import BridgeCore
import Testing

@Suite struct `A mistake in steps and rules` {
    private let scene = ConfigurationScene()

    private static let undiallable =
        "resumeUrl: expected a ws, wss, http or https URL without user name and fragment, in which {{var:NAME}} stands"

    private static let mistakes: [(String, [String])] = [
        ("onOpen: ~, rules: null, subprotocols: ", []),
        ("onOpen: {}", ["onOpen: expected a list, not a mapping"]),
        ("onOpen: [a]", ["onOpen[0]: expected a mapping of keys to values, not a single value"]),
        ("onOpen: [{}]", ["onOpen[0]: needs either send or expect"]),
        ("onOpen: [null]", ["onOpen[0]: needs either send or expect"]),
        (
            "onOpen: [{ send: { text: a }, expect: { any: true } }]",
            ["onOpen[0]: needs either send or expect"]
        ),
        (
            "onOpen: [{ sent: { text: a } }]",
            [
                "onOpen[0].sent: unknown key; did you mean send?", "onOpen[0]: needs either send or expect",
            ]
        ),
        (
            "onOpen: [{ send: { text: a }, timeout: 1s, capture: { a: /a }, forward: true }]",
            [
                "onOpen[0].timeout: belongs beside expect, not send",
                "onOpen[0].capture: belongs beside expect, not send",
                "onOpen[0].forward: belongs beside expect, not send",
            ]
        ),
        (
            "onOpen: [{ send: { text: '{{/a}}' } }]",
            [
                "onOpen[0].send.text: there is no message at hand whose {{POINTER}} could be filled in; "
                    + "{{last:POINTER}} is the newest value on the connection"
            ]
        ),
        (
            "onOpen: [{ when: { equals: a }, send: { text: a } }, { expect: { any: true } }]",
            [
                "onOpen[0].when: is of a message, and no step before expects one"
            ]
        ),
        (
            "onOpen: [{ when: { equals: a }, expect: { any: true } }]",
            [
                "onOpen[0].when: is of a message, and no step before expects one"
            ]
        ),
        (
            "onOpen: [{ when: { capturd: a }, send: { text: a } }]",
            [
                "onOpen[0].when.capturd: unknown key; did you mean captured?"
            ]
        ),
        (
            "onOpen: [{ when: { captured: a, equals: a }, send: { text: a } }]",
            [
                "onOpen[0].when: expected exactly one of equals, contains, prefix, regex, base64, json, any, captured, "
                    + "notCaptured"
            ]
        ),
        (
            "onOpen: [{ when: { captured: a b }, send: { text: a } }]",
            [
                "onOpen[0].when.captured: expected the name of a captured variable, not `a b`"
            ]
        ),
        (
            "onOpen: [{ when: { captured: a }, send: { text: '{{var:b}}' } }]",
            [
                "onOpen[0].when.captured: nothing captures the variable `a`",
                "onOpen[0].send.text: nothing captures the variable `b`",
            ]
        ),
        (
            "onOpen: [{ when: { notCaptured: a }, expect: { any: true } }]",
            [
                "onOpen[0].when.notCaptured: nothing captures the variable `a`"
            ]
        ),
        (
            "onOpen: [{ expect: { any: true }, timeout: 0 }]",
            [
                "onOpen[0].timeout: expected a duration such as 250ms, 20s or 1m30s (10ms to 1h), not `0`"
            ]
        ),
        (
            "onOpen: [{ expect: { any: true }, capture: {} }]",
            [
                "onOpen[0].capture: expected names and the pointers to what they are to hold, not nothing"
            ]
        ),
        (
            "onOpen: [{ expect: { any: true }, capture: { a-b: a } }]",
            [
                "onOpen[0].capture.a-b: the name of a variable has 1 to 64 letters, digits and `_`",
                "onOpen[0].capture.a-b: expected a JSON pointer such as /url, or /servers/0/url, not `a`",
            ]
        ),
        ("rules: [{}]", ["rules[0]: needs when"]),
        (
            "rules: [{ when: null, forward: false }]",
            [
                "rules[0].when: expected exactly one of equals, contains, prefix, regex, base64, json, any"
            ]
        ),
        (
            "rules: [{ when: { any: true }, forward: true }]",
            [
                "rules[0]: does nothing; all that match are forwarded anyway"
            ]
        ),
        (
            "rules: [{ when: { any: true }, action: restart }]",
            [
                "rules[0].action: expected reconnect, rotate or stop, not `restart`"
            ]
        ),
        (
            "rules: [{ when: { any: true }, action: stop, urlPointer: /a }]",
            [
                "rules[0].urlPointer: needs action: rotate beside it"
            ]
        ),
        (
            "rules: [{ when: { any: true }, urlPointer: /a, closeCode: 1000 }]",
            [
                "rules[0].urlPointer: needs action: rotate beside it",
                "rules[0].closeCode: needs action: reconnect or action: stop beside it",
            ]
        ),
        (
            "rules: [{ when: { any: true }, action: rotate, closeCode: 1000 }]",
            [
                "rules[0].closeCode: needs action: reconnect or action: stop beside it"
            ]
        ),
        (
            "rules: [{ when: { any: true }, action: stop, closeCode: 1006 }]",
            [
                "rules[0].closeCode: expected a close code that may be sent: 1000-1003, 1007-1014 or 3000-4999, not `1006`"
            ]
        ),
        (
            "rules: [{ when: { any: true }, topic: 'a..b' }]",
            [
                "rules[0].topic: expected a topic: words with dots between them, without spaces, `*` and `>`, in which "
                    + "{{POINTER}} may stand, not `a..b`"
            ]
        ),
        (
            "rules: [{ when: { any: true }, reply: { text: '{{var:a}}' } }]",
            [
                "rules[0].reply.text: nothing captures the variable `a`"
            ]
        ),
        (
            "rules: [{ when: { any: true }, heartbeatInterval: a }]",
            [
                "rules[0].heartbeatInterval: expected a JSON pointer such as /url, or /servers/0/url, not `a`"
            ]
        ),
        ("request: { corelate: /id }", ["request.corelate: unknown key; did you mean correlate?"]),
        ("request: { id: random }", ["request.id: expected uuid or counter, not `random`"]),
        ("resumeUrl: '{{var:a}}'", ["resumeUrl: nothing captures the variable `a`"]),
        (
            "resumeUrl: 'ftp://h/{{var:a}}', rules: [{ when: { any: true }, capture: { a: /a } }]",
            [undiallable]
        ),
        (
            "resumeUrl: 'wss://h/{{var:a}}#{{var:a}}', rules: [{ when: { any: true }, capture: { a: /a } }]",
            [undiallable]
        ),
        (
            "resumeUrl: 'wss://u:p@h/{{var:a}}', rules: [{ when: { any: true }, capture: { a: /a } }]",
            [undiallable]
        ),
        (
            "resumeUrl: ws://s3cret",
            [
                "resumeUrl: expected a URL in which {{var:NAME}} stands, and no other template"
            ]
        ),
        (
            "receiveOnly: true, onOpen: [{ send: { text: a } }], rules: [{ when: { any: true }, reply: { text: a } }], "
                + "request: { correlate: /id }",
            [
                "request: is of no use: receiveOnly rules out requests",
                "onOpen[0].send: is a message, which receiveOnly rules out",
                "rules[0].reply: is a message, which receiveOnly rules out",
            ]
        ),
    ]

    @Test(arguments: mistakes)
    func `is told with its place`(members: String, complaints: [String]) {
        let found = scene.complaints(ConfigurationScene.connection(members))
        #expect(Set(found) == Set(complaints.map { "1: connections.default." + $0 }), "\(found)")
        #expect(found.count == complaints.count)
    }

    @Test func `is told with its line among others, and none is made up`() {
        let yaml = """
            connections:
              default:
                url: wss://h
                onOpen:
                  - when: { captured: lost }
                    send: { text: "{{/a}}" }
                  - expects: { any: true }
                  - when: { equals: a }
                    send:
                      text: "{{/a}} {{var:lost}}"
                    timeout: 1s
                rules:
                  - when: { any: true }
                    topic: "a b"
                  - when: { any: true }
                    closeCode: 1000
                heartbeat:
                  send: { text: "{{var:lost}}" }
            """
        // What the wrong step would expect and capture is not known.
        #expect(
            scene.complaints(yaml).map { $0.split(separator: ";")[0] } == [
                "6: connections.default.onOpen[0].send.text: there is no message at hand whose {{POINTER}} could be "
                    + "filled in",
                "7: connections.default.onOpen[1].expects: unknown key",
                "7: connections.default.onOpen[1]: needs either send or expect",
                "11: connections.default.onOpen[2].timeout: belongs beside expect, not send",
                "14: connections.default.rules[0].topic: expected a topic: words with dots between them, without "
                    + "spaces, `*` and `>`, in which {{POINTER}} may stand, not `a b`",
                "16: connections.default.rules[1].closeCode: needs action: reconnect or action: stop beside it",
            ]
        )
    }
}
