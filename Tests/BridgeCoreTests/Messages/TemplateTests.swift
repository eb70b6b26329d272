import FoundationEssentials
import Testing
import WebSocketProtocol
import WebSocketTestSupport

@testable import BridgeCore

@Suite struct `A template` {
    /// A hash that shows what was hashed.
    private static let values: TemplateValues = {
        var values = TemplateValues(
            timeOfDay: WallTime(millisecondsSince1970: 1_700_000_000_123),
            counter: 7,
            sha256: { Array("<".utf8) + $0 + Array(">".utf8) }
        )
        values.variables = ["session": Array("\"a\\\"b\"".utf8), "count": Array("3".utf8)]
        return values
    }()

    /// What a template comes to, with a message at hand, after another message was received.
    private func expand(_ text: String, message: String? = nil, earlier: String = "") throws -> String? {
        let template = try Template(text)
        var values = Self.values
        values.message = message.map { Message(.text, Array($0.utf8)) }
        values.last = LastValues(template.remembered)
        values.last.received(Message(.text, Array(earlier.utf8)))
        var random = SeededGenerator(seed: 1)
        return template.expanded(with: values, random: &random).map { String(decoding: $0, as: UTF8.self) }
    }

    private static let now = "2023-11-14T22:13:20.123Z"

    private func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    @Test(
        arguments: [
            ("", ""), ("plain", "plain"), ("}}", "}}"), ("{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}"),
            ("{ {", "{ {"),
            ("\\{{now}}", "{{now}}"), ("\\{{", "{{"), ("a\\b\\", "a\\b\\"), ("{{counter}}}}", "7}}"),
            ("é😀", "é😀"),
            ("{{counter}}{{counter}}", "77"), ("{{nowMillis}}", "1700000000123"),
            ("{{now}}", "2023-11-14T22:13:20.123Z"), ("{{var:count}}", "3"), ("{{var:unknown}}", "null"),
        ]
    )
    func `fills in what it asks for and leaves the rest`(text: String, expected: String) throws {
        #expect(try expand(text) == expected)
    }

    @Test(
        arguments: [
            "{{", "{{now", "{{now}", "{{now} }", "{{}}", "{{ now }}", "{{Now}}", "{{nowmillis}}", "{{x}}",
            "{{pointer}}",
            "{{last:}}", "{{last:x}}", "{{last}}", "{{/~2}}", "{{last:/~}}", "{{var:}}", "{{var}}",
            "{{sha256base64}}",
            "{{sha256:/a}}", "{{sha256base64:{{x}}}}", "{{sha256base64:{{now}}", "{{{now}}}", "a {{b}} c",
            "{{:/a}}",
            "{{a}b}}", "{{base64}}", "{{base64:YQ}}", "{{base64:{{now}}}}", "{{base64:/w==}}",
        ]
    )
    func `with an unknown form is refused, and says what there is`(text: String) throws {
        let error = try #require(throws: MalformedValue.self) { try Template(text) }
        for form in [
            "{{POINTER}}", "{{last:POINTER}}", "{{var:NAME}}", "{{now}}", "{{nowMillis}}", "{{uuid}}",
            "{{counter}}",
            "{{sha256base64:ARGUMENT}}", "{{base64:TEXT}}",
        ] { #expect(error.expectation.contains(form)) }
    }

    @Test func `that nests too deeply is refused`() {
        let deep = String(repeating: "{{sha256base64:", count: 1000) + String(repeating: "}}", count: 1000)
        #expect(throws: MalformedValue.self) { try Template(deep) }
    }

    @Test func `makes random UUIDs of version 4`() throws {
        let pair = try #require(try expand("{{uuid}} {{uuid}}")).split(separator: " ")
        #expect(pair.count == 2)
        #expect(pair[0] != pair[1])
        let form = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
        for uuid in pair { #expect(uuid.wholeMatch(of: form) != nil, "\(uuid)") }
    }

    @Test(
        arguments: [
            ("PONG {{/n}}", "{\"n\":5}", "PONG 5"), ("<{{/s}}>", "{\"s\":\"a\\\"b\\n\"}", "<a\\\"b\\n>"),
            ("{{/o}}", "{\"o\":{\"x\":[1, 2]}}", "{\"x\":[1, 2]}"), ("{{/none}}", "{}", "null"),
            ("{{/s}}", "no JSON", "null"),
            ("{{/s}}", "{\"s\":null}", "null"), ("{{/a{b}}}", "{\"a{b}\":1}", "1"),
            ("{{/a}} {{/a}}", "{\"a\":1}", "1 1"),
            ("{{/s}}", "{\"s\":\"\\u00e9\"}", "\\u00e9"),
        ]
    )
    func `takes values of the message at hand`(text: String, message: String, expected: String) throws {
        #expect(try expand(text, message: message) == expected)
    }

    @Test(
        arguments: [
            // A string of a JSON template takes the characters of a string, and any other value as text.
            ("{\"a\":\"{{/v}}\"}", "\"x\\\"y\"", "{\"a\":\"x\\\"y\"}"),
            ("{\"a\":\"{{/v}}\"}", "[\"b\"]", "{\"a\":\"[\\\"b\\\"]\"}"),
            ("{\"a\":\"{{/v}}!\"}", "12", "{\"a\":\"12!\"}"), ("[\"\\\"{{/v}}\"]", "\"x\"", "[\"\\\"x\"]"),
            ("{\"{{/v}}\":1}", "\"k\"", "{\"k\":1}"),
            // A place for a value takes any value.
            ("{\"op\":1,\"d\":{{/v}}}", "42", "{\"op\":1,\"d\":42}"),
            ("{\"d\":{{/v}}}", "{\"x\":1}", "{\"d\":{\"x\":1}}"),
            ("[{{/v}}]", "\"1,2\"", "[\"1,2\"]"), (" [ {{/v}} ]", "null", " [ null ]"),
            // Nor do texts that it makes itself break it.
            ("{\"a\":{{now}},\"b\":\"{{now}}\"}", "1", "{\"a\":\"\(now)\",\"b\":\"\(now)\"}"),
            ("[{{sha256base64:{{/v}}}},{{nowMillis}},{{counter}}]", "1", "[\"PDE+\",1700000000123,7]"),
            // No JSON: an escaped string without its quotes.
            ("{{{/v}}", nil, nil), ("v={{/v}}", "\"1,2\"", "v=1,2"),
        ] as [(String, String?, String?)]
    )
    func `puts a value into JSON so that it stays one value`(text: String, value: String?, expected: String?)
        throws
    {
        guard let value else {
            #expect(throws: MalformedValue.self) { try Template(text) }
            return
        }
        #expect(try expand(text, message: "{\"v\":\(value)}") == expected)
    }

    /// Whatever a peer sends, the JSON that comes of it has the structure that the template has.
    @Test(arguments: ["{\"a\":\"{{/v}}\",\"b\":[{{/v}},1]}", "{\"a\":\"{{last:/v}}\",\"b\":[{{last:/v}},1]}"])
    func `is not injected into`(text: String) throws {
        let hostile = [
            "\"\\\",\\\"admin\\\":true,\\\"\"", "\"\\\\\"", "\"1],[2\"", "\"}}{{now}}\"",
            "[\"\\\",\\\"x\\\":\\\"\"]",
            "{\"\\\"}\":1}", "\"\\u0022,\\u0022x\"", "\"{{var:session}}\"", "null", "-1e5", "\"\\ud800\"",
        ]
        for value in hostile {
            let message = "{\"v\":\(value)}"
            let result = try #require(try expand(text, message: message, earlier: message))
            let bytes = Array(result.utf8)
            let search = JSONSearch(["", "/a", "/b/0", "/b/1"].compactMap(JSONPointer.init))
            let found = try #require(search.values(in: bytes), "\(result)")
            #expect(!found.contains(nil))
            let one = try #require(found[3])
            #expect(String(decoding: bytes[one], as: UTF8.self) == "1")
            #expect(!result.contains("2023-"))
        }
    }

    @Test func `remembers the newest value other than null that came`() throws {
        let template = try Template("{{last:/s}} {{last:/t/0}} {{last:/s}}")
        var last = LastValues(template.remembered)
        for text in ["{\"s\":1}", "{\"s\":2,\"t\":[\"x\"]}", "{\"s\":null}", "{}", "no JSON", "{\"s\":3"] {
            last.received(Message(.text, Array(text.utf8)))
        }
        var values = Self.values
        values.last = last
        var random = SeededGenerator(seed: 1)
        let text = template.expanded(with: values, random: &random)
        #expect(text == Array("2 x 2".utf8))
    }

    @Test func `remembers no value that is too long, nor the one before it`() throws {
        let pointer = try #require(JSONPointer("/s"))
        var last = LastValues([pointer])
        last.received(Message(.text, Array("{\"s\":1}".utf8)))
        let filler = String(repeating: "x", count: LastValues.longest)
        last.received(Message(.text, Array("{\"s\":\"\(filler)\"}".utf8)))
        #expect(last[pointer] == nil)
        last.received(Message(.text, Array("{\"s\":2}".utf8)))
        #expect(last[pointer] == Array("2".utf8))
    }

    @Test func `hashes what its argument comes to, templates and all`() throws {
        #expect(try expand("{{sha256base64:abc}}") == base64("<abc>"))
        #expect(try expand("{{sha256base64:}}") == base64("<>"))
        #expect(
            try expand(
                "{{sha256base64:{{sha256base64:pw{{/salt}}}}{{/n}}}}",
                message: "{\"salt\":\"x\",\"n\":5}"
            )
                == base64("<\(base64("<pwx>"))5>")
        )
        // What is hashed is the text that a string stands for.
        #expect(
            try expand("{{sha256base64:{{/s}}}}", message: "{\"s\":\"a\\\"\\u00e9\"}") == base64("<a\"é>")
        )
        #expect(try expand("{{sha256base64:\\{{x}}") == base64("<{{x>"))
        // Braces that are none of its own.
        #expect(try expand("{{sha256base64:\(braces)x}}{{base64:}}") == base64("<}\\{{x>"))
    }

    private let braces = "{{base64:fVx7ew==}}"

    @Test func `has what stands there in base64`() throws {
        #expect(try expand("\(braces){{counter}}\(braces)") == "}\\{{7}\\{{")
        #expect(try Template(braces).constant == Array("}\\{{".utf8))
    }

    @Test func `that comes to too much comes to nothing`() throws {
        let template = String(repeating: "{{/v}}", count: 20)
        let filler = String(repeating: "x", count: 1 << 20)
        #expect(try expand(template, message: "{\"v\":\"\(filler)\"}") == nil)
    }

    @Test func `knows what it needs`() throws {
        let template = try Template("{{/a}}{{sha256base64:{{last:/b}}{{var:c}}{{now}}}}")
        #expect(template.needsMessage)
        #expect(template.remembered.map(\.text) == ["/b"])
        #expect(template.variables == ["c"])
        #expect(template.needsTimeOfDay)
        #expect(!template.needsCounter)
        #expect(try Template("{{counter}}").needsCounter)
        #expect(try Template("\\{{x").constant == Array("{{x".utf8))
        #expect(try Template("{{now}}").constant == nil)
    }

    @Test func `of a binary message makes base64, with what is filled in`() throws {
        let template = try MessageTemplate(base64: "AAE{{/c}}")
        var values = Self.values
        var random = SeededGenerator(seed: 1)
        for (message, bytes) in [("{\"c\":\"C\"}", [0, 1, 2]), ("{\"c\":\"?\"}", nil), ("{}", nil)]
            as [(String, [UInt8]?)]
        {
            values.message = Message(.text, Array(message.utf8))
            #expect(template.message(with: values, random: &random) == bytes.map { Message(.binary, $0) })
        }
        #expect(throws: MalformedValue.self) { try MessageTemplate(base64: "AAE") }
        #expect(throws: MalformedValue.self) { try MessageTemplate(base64: "p!ng") }
    }
}
