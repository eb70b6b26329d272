import FoundationEssentials
import Testing
import WebSocketTestSupport

@testable import BridgeCore

@Suite struct `JSON pointers` {
    /// The values at these pointers, as they are written; nil: it is not JSON.
    private func values(_ pointers: [String], in document: String) throws -> [String?]? {
        let bytes = Array(document.utf8)
        let search = try JSONSearch(pointers.map { try #require(JSONPointer($0)) })
        return search.values(in: bytes)?.map { place in
            place.map { String(decoding: bytes[$0], as: UTF8.self) }
        }
    }

    @Test(arguments: ["a", "/~", "/~2", "/a~", "/~01~/b", " /a"])
    func `begin with a slash and escape nothing but tildes and slashes`(text: String) {
        #expect(JSONPointer(text) == nil)
    }

    /// RFC 6901 §5.
    @Test(
        arguments: [
            ("/foo", "[\"bar\", \"baz\"]"), ("/foo/0", "\"bar\""), ("/", "0"), ("/a~1b", "1"), ("/c%d", "2"),
            ("/e^f", "3"), ("/g|h", "4"), ("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"), ("/m~0n", "8"),
        ]
    )
    func `find what the standard says`(pointer: String, value: String) throws {
        let document = """
            {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\\\j": 5, "k\\"l": 6, " ": 7,
            "m~n": 8}
            """
        #expect(try values([pointer], in: document) == [value])
    }

    @Test(
        arguments: [
            ("", "{\"a\":1}", "{\"a\":1}"), ("", " 7 ", "7"),
            ("/a/b/c", "{\"a\":{\"b\":{\"c\":null}}}", "null"),
            ("/a/1/0", "{\"a\":[[],[true]]}", "true"), ("/a/2", "{\"a\":[1,2]}", nil),
            ("/0", "{\"0\":\"member\"}", "\"member\""), ("/01", "[1,2]", nil), ("/-", "[1]", nil),
            ("/00", "[1]", nil),
            ("/1e0", "[1,2]", nil), ("/99999999999999999999", "[1]", nil),
            ("/a", "[1]", nil), ("/a/b", "{\"a\":7}", nil), ("/a", "\"a\"", nil),
            ("/é", "{\"\\u00e9\":1}", "1"),
            ("/😀", "{\"\\ud83d\\ude00\":1}", "1"), ("/a", "{\"\\u0061\":1}", "1"),
            ("/a~1b", "{\"a\\/b\":1}", "1"),
        ] as [(String, String, String?)]
    )
    func `find a value, however deep, or none`(pointer: String, document: String, value: String?) throws {
        #expect(try values([pointer], in: document) == [value])
    }

    @Test func `of a member that comes again the last value counts, and nothing of the others`() throws {
        #expect(try values(["/a", "/b"], in: "{\"a\":1,\"b\":2,\"\\u0061\":3}") == ["3", "2"])
        #expect(try values(["/a/x", "/a/y"], in: "{\"a\":{\"x\":1,\"y\":2},\"a\":{\"x\":3}}") == ["3", nil])
        #expect(try values(["/a/x", "/a"], in: "{\"a\":{\"x\":1},\"a\":7}") == [nil, "7"])
        #expect(try values(["/a/0/x/y"], in: "{\"a\":[{\"x\":{\"y\":1}}],\"a\":[{\"x\":{}}]}") == [nil])
        #expect(try values(["/x/y"], in: "{\"x\":{\"y\":1},\"z\":0,\"x\":{\"y\":2,\"y\":3}}") == ["3"])
    }

    @Test func `are found among many, by name and by index`() throws {
        let names = (0..<40).map { "n\($0)" }
        let members = names.map { "\"\($0)\":\"\($0)!\"" }.joined(separator: ",")
        let pointers = names.map { "/o/\($0)" } + (0..<40).map { "/a/\($0)" } + ["/o/none", "/a/41", "/a/n1"]
        let elements = (0..<41).map { "\($0 * 2)" }
        let expected = names.map { "\"\($0)!\"" } + elements.prefix(40) + [nil, nil, nil] as [String?]
        let list = elements.joined(separator: ",")
        #expect(try values(pointers, in: "{\"o\":{\(members)},\"a\":[\(list)]}") == expected)
        let escaped = members.replacing("\"n7\"", with: "\"\\u006e7\"")
        #expect(try values(pointers, in: "{\"o\":{\(escaped)},\"a\":[\(list)]}") == expected)
        let again = "{\"o\":{\(members)},\"a\":[\(list)],\"o\":{\"n3\":1,\"n3\":2}}"
        let left = names.map { $0 == "n3" ? "2" : nil } + expected.dropFirst(40)
        #expect(try values(pointers, in: again) == left)
    }

    @Test func `are all found in one pass, the same one twice`() throws {
        let document = "{\"d\":{\"s\":42,\"t\":[1,2]},\"op\":1}"
        #expect(
            try values(["/op", "/d/s", "/d", "/d/t/1", "/op", "/x"], in: document) == [
                "1", "42", "{\"s\":42,\"t\":[1,2]}", "2", "1", nil,
            ]
        )
    }

    @Test(
        arguments: [
            "", " ", "{", "}", "[", "[1", "[1,", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
            "{1:1}",
            "{\"a\":1 \"b\":2}", "[1 2]", "tru", "truex", "nul", "TRUE", "01", "-", "+1", ".5", "1.", "1e",
            "1e+", "0x1",
            "1 2", "\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\n\"", "\"\u{0}\"", "'a'",
            "1]]",
            "{\"a\":1}}", "// c\n1", "\u{FEFF}1", "NaN", "Infinity", "{\"a\":1}x", "[\"a\":1]", "\u{00A0}1",
        ]
    )
    func `find nothing in what is not JSON, not even in front of the mistake`(document: String) throws {
        #expect(try values([""], in: document) == nil)
        #expect(try values([], in: "[1," + document) == nil)
    }

    @Test(
        arguments: [
            "0", "-0", "-0.0e-0", "1E+400", "123456789012345678901234567890", "true", "false", "null", "\"\"",
            "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\ud800\"", "[]", "[ ]", "{}", "{ }", "[[],{}]",
            "\t\n\r 1\t\n\r ",
            "{\"\":{\"\":[]}}", "\"\u{7F}é\"",
        ]
    )
    func `find what is JSON, of any size`(document: String) throws {
        #expect(try values([""], in: document) != nil)
    }

    @Test func `go 512 deep and no deeper, for arrays and objects`() throws {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            func nested(_ depth: Int) -> String {
                String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
            }
            #expect(try values([""], in: nested(512)) != nil)
            #expect(try values([""], in: nested(513)) == nil)
            #expect(try values([""], in: nested(100_000)) == nil)
        }
    }

    /// Foundation's reader is the judge of what is JSON.
    @Test(arguments: 1...100 as ClosedRange<UInt64>)
    func `agree with another reader about what is JSON`(seed: UInt64) throws {
        let original = Array("{\"a\":[1,-2.5,true,null,\"x\\u00e9\\n\"],\"b\":{\"c\":{}},\"d\":[[]]}".utf8)
        let pieces = Array("{}[]:,\"\\0123456789.eE+-truefalsn u\u{1}".utf8)
        var dice = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...2, using: &dice) {
                let index = Int.random(in: 0..<bytes.count, using: &dice)
                switch Int.random(in: 0..<3, using: &dice) {
                case 0: bytes.remove(at: index)
                case 1: bytes.insert(pieces.randomElement(using: &dice) ?? 0, at: index)
                default: bytes[index] = pieces.randomElement(using: &dice) ?? 0
                }
            }
            // It lets commas stand at the end of a list, which no standard does.
            let text = String(decoding: bytes, as: UTF8.self)
            guard text.firstMatch(of: /,[ \n]*[\]}]/) == nil else { continue }
            let isJSON = (try? JSONDecoder().decode(Anything.self, from: Data(bytes))) != nil
            #expect(
                JSONSearch.isJSON(bytes) == isJSON,
                "\(String(decoding: bytes, as: UTF8.self))"
            )
        }
    }

    /// Any JSON value, of which nothing is kept.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) throws {
            let single = try decoder.singleValueContainer()
            if (try? single.decode([Anything].self)) != nil { return }
            if (try? single.decode([String: Anything].self)) != nil { return }
            if single.decodeNil() { return }
            if (try? single.decode(Bool.self)) != nil { return }
            if (try? single.decode(Double.self)) != nil { return }
            _ = try single.decode(String.self)
        }
    }
}

@Suite struct `JSON scalars` {
    private func isEqual(_ scalar: JSONScalar, _ value: String) -> Bool {
        scalar.isEqual(Array(value.utf8).span)
    }

    @Test(
        arguments: [
            ("10", "10"), ("10", "10.0"), ("10", "1e1"), ("10", "1E+1"), ("10", "100e-1"), ("0", "-0"),
            ("0", "0.000e7"),
            ("-1.5", "-15e-1"), ("0.001", "1e-3"), ("123456789012345678901", "123456789012345678901.0"),
            ("1e400", "10e399"),
            ("1e99999999999999999999", "1e99999999999999999999"),
        ]
    )
    func `numbers are equal however they are written`(number: String, value: String) throws {
        let number = try #require(JSONNumber(number))
        #expect(isEqual(.number(number), value))
    }

    @Test(
        arguments: [
            ("10", "1"), ("10", "\"10\""), ("1", "-1"), ("1", "true"), ("0", "null"), ("0", "0.1"),
            ("0.1", "0.01"),
            ("12345678901234567890", "12345678901234567891"), ("9007199254740993", "9007199254740992"),
            ("1", "[1]"),
        ]
    )
    func `numbers are not rounded, and are no other values`(number: String, value: String) throws {
        let number = try #require(JSONNumber(number))
        #expect(!isEqual(.number(number), value))
    }

    @Test(arguments: ["", "x", " 1", "1 ", "1\n", "01", "0x1", "1_000", "[1]", "\"1\"", "true", "-", "1e"])
    func `what is no number in JSON is none`(text: String) {
        #expect(JSONNumber(text) == nil)
    }

    @Test func `strings are compared by their characters, and truth by its value`() {
        #expect(isEqual(.string("é\n"), "\"\\u00e9\\n\""))
        #expect(isEqual(.string("é"), "\"é\""))
        #expect(isEqual(.string("\u{FFFD}"), "\"\\ud800\""))
        #expect(isEqual(.string(""), "\"\""))
        #expect(!isEqual(.string("a"), "\"b\""))
        #expect(!isEqual(.string("1"), "1"))
        #expect(!isEqual(.string("null"), "null"))
        #expect(isEqual(.bool(true), "true"))
        #expect(!isEqual(.bool(true), "false"))
        #expect(!isEqual(.bool(false), "0"))
        #expect(!isEqual(.bool(true), "\"true\""))
    }
}
