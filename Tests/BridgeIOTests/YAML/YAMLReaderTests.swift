import BridgeCore
import BridgeIO
import Testing

/// The tree of a text in one line: scalars as `plain` or `"quoted"`.
private func tree(_ text: String) -> Result<String, ConfigurationFaults> {
    Result { () throws(ConfigurationFaults) in try YAMLReader.read(Array(text.utf8)).root.outline }
}

/// What is wrong with a text, one line each.
private func faults(_ bytes: [UInt8]) -> [String] {
    do throws(ConfigurationFaults) {
        return lines(try YAMLReader.read(bytes).faults)
    } catch {
        return lines(error.faults)
    }
}

private func lines(_ faults: [ConfigurationFault]) -> [String] {
    faults.map { "\($0.line): \($0.path.map { $0 + ": " } ?? "")\($0.text)" }
}

private func faults(_ text: String) -> [String] { faults(Array(text.utf8)) }

extension ConfigurationNode {
    fileprivate var outline: String {
        switch content {
        case .scalar(let text, .plain): text
        case .scalar(let text, .quoted): "\"\(text)\""
        case .unknown: "?"
        case .sequence(let elements): "[" + elements.map(\.outline).joined(separator: ", ") + "]"
        case .mapping(let members):
            "{" + members.map { "\($0.key): \($0.value.outline)" }.joined(separator: ", ") + "}"
        }
    }
}

@Suite struct `YAML` {
    @Test(arguments: [
        ("", "{}"), ("# nothing\n", "{}"), ("---\n", ""), ("\u{FEFF}a: 1", "{a: 1}"),
        ("a: 1\nb: '1'\nc: \"1\"\nd:\n", "{a: 1, b: \"1\", c: \"1\", d: }"),
        ("z: 1\na: 2", "{z: 1, a: 2}"), ("- a\n- [b, {c: d}]", "[a, [b, {c: d}]]"),
        ("a: |\n  one\n  two\n", "{a: \"one\ntwo\n\"}"), ("a: >-\n  one\n  two\n", "{a: \"one two\"}"),
        ("a: !!str 5\nb: ! 5", "{a: \"5\", b: \"5\"}"), ("a: !!map {}\nb: !!seq []", "{a: {}, b: []}"),
        ("a: &x {b: 1}\nc: *x", "{a: {b: 1}, c: {b: 1}}"), ("a: &x 1\nb: &x 2\nc: *x", "{a: 1, b: 2, c: 2}"),
        ("b: &x {p: 1, q: 2}\na:\n  <<: *x\n  q: 3\n  r: 4", "{b: {p: 1, q: 2}, a: {q: 3, r: 4, p: 1}}"),
        ("a: {<<: [{p: 1}, {p: 2, q: 2}], r: 3}", "{a: {r: 3, p: 1, q: 2}}"),
        ("a: {'<<': 1}", "{a: {<<: 1}}"),
        (
            "{\"a\": [1, 2.5, true, null, \"x\\u00e9\\n\\/\"],\n\t\"b\": {}}\n",
            "{a: [1, 2.5, true, null, \"xé\n/\"], b: {}}"
        ),
        (#"{"a":{"b":"c"},"d":["e"],"f":""}"#, #"{a: {b: "c"}, d: ["e"], f: ""}"#),
    ])
    func `and JSON are read`(text: String, outline: String) {
        #expect(tree(text) == .success(outline))
    }

    @Test(arguments: [
        (#"{"a": "\ud83d\ude00"}"#, #"{a: "😀"}"#),
        (#"{"\uD83D\uDE00": "x\uD800\udc00\uDBFF\uDFFFy"}"#, "{😀: \"x𐀀\u{10FFFF}y\"}"),
        (
            #"["é€😀", "\ud83d\ude00", "é\u00e9\ud83d\ude00\n", "\ud83d\ude00"]"#,
            "[\"é€😀\", \"😀\", \"éé😀\n\", \"😀\"]"
        ),
        (
            "\u{FEFF}# é\r\na: \"x\u{2028}\"\r\nb: !!str \"\\ud83d\\ude00\"\nc: &x \"\\ud83d\\ude00\"\n",
            "{a: \"x\u{2028}\", b: \"😀\", c: \"😀\"}"
        ),
        ("a: \"\\ud83d\\ude00\n  two\\\n  \\ud83d\\ude00\"", #"{a: "😀 two😀"}"#),
        // A backslash that is escaped, and what is no escape, as it is in no double quotes.
        (#"a: "\\ud83d\\ude00 \\\ud83d\ude00 \"\ud83d\ude00""#, #"{a: "\ud83d\ude00 \😀 "😀"}"#),
        (
            #"{a: \ud83d\ude00, b: '\ud83d\ude00', c: 'it''s "\ud83d\ude00"', d: x"\ud83d\ude00"}"#,
            #"{a: \ud83d\ude00, b: "\ud83d\ude00", c: "it's "\ud83d\ude00"", d: x"\ud83d\ude00"}"#
        ),
        (
            "a: |\n  \"\\ud83d\\ude00\"\n# \"\\ud83d\\ude00\"\nb: \"\\ud83d\\ude00\"",
            "{a: \"\"\\ud83d\\ude00\"\n\", b: \"😀\"}"
        ),
    ])
    func `joins the two escapes of a character in double quotes, and nothing else`(
        text: String,
        outline: String
    ) {
        #expect(tree(text) == .success(outline))
    }

    @Test(arguments: [
        (#"{"a": "\ud83d"}"#, 1), (#"{"a": "\ude00\ud83d"}"#, 1), (#"{"a": "\ud83d\u0041"}"#, 1),
        (#"{"a": "\ud83dx\ude00"}"#, 1), (#"{"a": "\ud83d\\ude00"}"#, 1),
        (#"{"a": "\ud83d\ud83d\ude00"}"#, 1),
        ("{\n\"a\": \"\\ud83d\\ude00\",\n\"b\":\n \"x \\ud83d\"}", 4), ("{\n\"\\udc00\": 1}", 2),
        ("a: \"\n\n \\ud83d\"\n", 3), (#"a: "\U00110000""#, 1),
    ])
    func `refuses half a character, with its line`(text: String, line: Int) {
        let wrong = #"an escape that is no character; what is beyond \uffff is a pair such as \ud83d\ude00"#
        #expect(faults(text) == ["\(line): not valid YAML: \(wrong)"])
    }

    @Test func `tells what else is wrong behind two escapes of a character`() {
        #expect(
            faults("a: \"\\ud83d\\ude00\"\nb: 1\nb: 2\nc: [") == [
                "3: b: stands twice; the first is on line 2",
                "4: not valid YAML: did not find expected node content while parsing a flow node",
            ]
        )
    }

    @Test func `gives every value its line and column`() throws {
        let root = try YAMLReader.read(Array("# é\na:\n  é: [x,\n    y]\n".utf8)).root
        guard case .mapping(let outer) = root.content, case .mapping(let inner) = outer[0].value.content,
            case .sequence(let elements) = inner[0].value.content
        else {
            Issue.record("another tree: \(root.outline)")
            return
        }
        #expect(outer[0].keyPosition == .init(line: 2, column: 1))
        #expect(inner[0].keyPosition == .init(line: 3, column: 3))
        #expect(elements.map(\.position) == [.init(line: 3, column: 7), .init(line: 4, column: 5)])
    }

    @Test(arguments: [
        (
            "a: 1\nb:\n  c: 1\n  c: 2\na: 2\na: 3",
            [
                "4: b.c: stands twice; the first is on line 3", "5: a: stands twice; the first is on line 1",
                "6: a: stands twice; the first is on line 1",
            ]
        ),
        (
            "l:\n  - a: 1\n    a: 2\nb: [",
            [
                "3: l[0].a: stands twice; the first is on line 2",
                "4: not valid YAML: did not find expected node content while parsing a flow node",
            ]
        ),
        ("a: 1\n---\nb: 1", ["2: a second document starts here; a configuration is one document"]),
        ("a:\n\tb: 1", ["2: not valid YAML: a tab indents this line; use spaces"]),
        (
            "a: \"x\nb: 1\n",
            ["2: not valid YAML: found unexpected end of stream while scanning a quoted scalar"]
        ),
        ("a: 1\n b: 2", ["2: not valid YAML: mapping values are not allowed in this context"]),
        ("a: \u{1}", ["1: not valid YAML: control characters are not allowed"]),
        ("a: *x", ["1: a: there is no anchor &x before this alias"]),
        ("a: &x\n  - *x", ["2: a[0]: the alias *x stands inside of what it refers to"]),
        ("a: &x 1\nb: &x [*x]", ["2: b[0]: the alias *x stands inside of what it refers to"]),
        ("[a]: 1", ["1: a key must be a simple text"]),
        ("a: &x k\n*x : 1", ["2: a key must be a simple text"]),
        ("a: !secret x", ["1: a: tags such as !name have no meaning here"]),
        ("a: !!int 5", ["1: a: tags such as !name have no meaning here"]),
        ("a: !x []", ["1: a: tags such as !name have no meaning here"]),
        (
            "a: !x {}\n!y b: 1",
            ["1: a: tags such as !name have no meaning here"]
                + ["2: tags such as !name have no meaning here"]
        ),
        (
            "? {a: *x}\n: *y",
            ["1: a key must be a simple text", "1: a: there is no anchor &x before this alias"]
                + ["2: ?: there is no anchor &y before this alias"]
        ),
        (
            "a: {<<: *x, b: 1, b: 2}",
            ["1: a: there is no anchor &x before this alias"]
                + ["1: a.b: stands twice; the first is on line 1"]
        ),
        ("a: {<<: 1}", ["1: a: << takes a mapping or a list of mappings"]),
        ("a: {<<: [{}, 1]}", ["1: a: << takes a mapping or a list of mappings"]),
    ])
    func `that is wrong is told with its line`(text: String, wrong: [String]) {
        #expect(faults(text) == wrong)
    }

    /// CR, LF, CR LF, NEL, LS and PS end a line (YAML 1.1 §4.2).
    @Test(arguments: ["\r", "\n", "\r\n", "\u{85}", "\u{2028}", "\u{2029}"])
    func `counts its lines by every line break`(end: String) {
        let lines = ["# one", "a: 1", "b: [", "  2, ]", "a: 2", "c: *x", "d:"]
        let wrong = [
            "5: a: stands twice; the first is on line 2", "6: c: there is no anchor &x before this alias",
        ]
        #expect(faults(lines.joined(separator: end)) == wrong)
        #expect(faults((lines + [""]).joined(separator: end)) == wrong)
        let syntax = "7: not valid YAML: did not find expected node content while parsing a flow node"
        #expect(faults((lines.dropLast() + ["d: [", ""]).joined(separator: end)) == wrong + [syntax])
        #expect(faults(Array(["a", "b", "c: "].joined(separator: end).utf8) + [0xFF]) == ["3: not UTF-8"])
    }

    @Test func `must be UTF-8`() {
        #expect(faults(Array("a: 1\nb: ".utf8) + [0xFF]) == ["2: not UTF-8"])
        #expect(faults([0xFE, 0xFF, 0, 0x61]) == ["1: not UTF-8"])
    }

    @Test func `may not be nested too deeply`() {
        let deepest = ConfigurationTreeBuilder.deepest
        let right = String(repeating: "[", count: deepest) + String(repeating: "]", count: deepest)
        #expect(faults(right) == [])
        #expect(faults("[\(right)]").first?.hasSuffix("is nested deeper than 64 levels") == true)
        // An alias counts with the depth of what it stands for.
        let half = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        let twice =
            "a: &x \(half)\nb: \(String(repeating: "[", count: 30))*x\(String(repeating: "]", count: 30))"
        #expect(faults(twice).first?.hasSuffix("is nested deeper than 64 levels") == true)
    }

    @Test func `may not grow without bound by its aliases`() {
        var laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
        for level in 1...20 {
            let one = "*a\(level - 1)"
            laughs += "a\(level): &a\(level) [\(Array(repeating: one, count: 9).joined(separator: ", "))]\n"
        }
        let wrong = faults(laughs)
        #expect(wrong.count == 1)
        #expect(wrong.first?.hasSuffix("there are more than 100000 values, aliases written out") == true)
    }

    @Test func `may have so many values and no more`() {
        let most = ConfigurationTreeBuilder.mostNodes - 1
        let right = "[" + String(repeating: "a,", count: most) + "]"
        #expect(faults(right) == [])
        #expect(faults("[a," + right.dropFirst()).count == 1)
    }
}
