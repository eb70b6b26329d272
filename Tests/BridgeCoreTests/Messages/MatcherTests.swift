import Testing
import WebSocketProtocol

@testable import BridgeCore

@Suite struct `A matcher` {
    private static let letters = Array("aab".utf8)

    private func text(_ text: String) -> Message { Message(.text, Array(text.utf8)) }

    private func binary(_ text: String) -> Message { Message(.binary, Array(text.utf8)) }

    @Test func `equals compares a whole text`() {
        let matcher = Matcher.equals("pong")
        #expect(matcher.matches(text("pong")))
        #expect(!matcher.matches(text("pong ")))
        #expect(!matcher.matches(text("PONG")))
        #expect(Matcher.equals("").matches(text("")))
        // The same letters for people, other characters for programs.
        #expect(!Matcher.equals("\u{E9}").matches(text("e\u{301}")))
    }

    @Test func `prefix compares the beginning`() {
        #expect(Matcher.prefix("po").matches(text("pong")))
        #expect(Matcher.prefix("").matches(text("")))
        #expect(!Matcher.prefix("pong").matches(text("pon")))
    }

    @Test(
        arguments: [
            ("", "", true), ("", "a", true), ("a", "", false), ("ong", "pong", true), ("aab", "aaab", true),
            ("abab", "abaabab", true), ("aaaa", "aaabaaab", false), ("é", "caf\u{E9}", true),
        ]
    )
    func `contains finds a text anywhere`(needle: String, haystack: String, isFound: Bool) {
        #expect(Matcher.contains(Needle(needle)).matches(text(haystack)) == isFound)
    }

    @Test func `contains looks at a hostile text once`() {
        let needle = Needle(String(repeating: "a", count: 5000) + "b")
        let haystack = Array(repeating: UInt8(ascii: "a"), count: 2_000_000)
        #expect(!needle.isFound(in: haystack))
    }

    @Test func `regex finds a match anywhere`() throws {
        #expect(Matcher.regex(try RegularExpression("^p.ng$")).matches(text("pöng")))
        #expect(!Matcher.regex(try RegularExpression("^p.ng$")).matches(text("pooong")))
    }

    @Test func `of texts takes no binary message, and of bytes no text`() throws {
        let matchers = [
            Matcher.equals("a"), .prefix("a"), .contains(Needle("a")), .regex(try RegularExpression("a")),
        ]
        for matcher in matchers {
            #expect(matcher.matches(text("a")))
            #expect(!matcher.matches(binary("a")))
        }
        #expect(Matcher.binary([0x61]).matches(binary("a")))
        #expect(!Matcher.binary([0x61]).matches(text("a")))
        #expect(!Matcher.binary([]).matches(binary("a")))
    }

    @Test func `any takes every message`() {
        #expect(Matcher.any.matches(text("")))
        #expect(Matcher.any.matches(binary("")))
    }

    @Test(
        arguments: [
            ("{\"op\":11}", true), ("{\"op\":1.1e1,\"x\":[]}", true), ("{\"op\":\"11\"}", false),
            ("{\"op\":12}", false),
            ("{}", false), ("[]", false), ("{\"op\":11", false), ("{\"op\":11}}", false), ("", false),
            ("pong", false),
            ("{\"op\":11,\"op\":12}", false),
        ]
    )
    func `json compares what stands at a pointer`(document: String, isMatch: Bool) throws {
        let op = JSONConditions.Condition(
            try #require(JSONPointer("/op")),
            .number(try #require(JSONNumber("11")))
        )
        let matcher = Matcher.json(JSONConditions([op]))
        #expect(matcher.matches(text(document)) == isMatch)
        #expect(matcher.matches(binary(document)) == isMatch)
    }

    @Test func `json needs all its conditions, of which null asks for any value`() throws {
        let type = JSONConditions.Condition(try #require(JSONPointer("/type")), .string("pong"))
        let id = JSONConditions.Condition(try #require(JSONPointer("/id")), nil)
        let matcher = Matcher.json(JSONConditions([type, id]))
        #expect(matcher.matches(text("{\"type\":\"pong\",\"id\":7}")))
        #expect(matcher.matches(text("{\"type\":\"p\\u006fng\",\"id\":null}")))
        #expect(!matcher.matches(text("{\"type\":\"pong\"}")))
        #expect(!matcher.matches(text("{\"type\":\"ping\",\"id\":7}")))
    }

    @Test func `json takes nothing that is not UTF-8`() throws {
        let matcher = Matcher.json(JSONConditions([.init(try #require(JSONPointer("/a")), nil)]))
        #expect(!matcher.matches(Message(.binary, Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8))))
        #expect(!matcher.matches(Message(.binary, Array("{\"a\":\"".utf8) + [0xC3])))
    }
}

@Suite struct `Base64 decoding` {
    @Test(arguments: [
        ("", []), ("AA==", [0]), ("AAE=", [0, 1]), ("AAEC", [0, 1, 2]), ("+/+/", [0xFB, 0xFF, 0xBF]),
    ])
    func `gives the bytes`(text: String, bytes: [UInt8]) {
        #expect(Base64.decode(Array(text.utf8)) == bytes)
    }

    @Test func `takes back every encoding`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) }
            var text: [UInt8] = []
            Base64.append(bytes, to: &text)
            #expect(Base64.decode(text) == bytes)
        }
    }

    @Test(arguments: [
        "A", "AA", "AAA", "A===", "====", "AA=A", "AB==", "AAF=", "A A=", "AA-_", "AAEC\n", "é===",
    ])
    func `refuses what is not whole or not clean`(text: String) {
        #expect(Base64.decode(Array(text.utf8)) == nil)
    }
}
