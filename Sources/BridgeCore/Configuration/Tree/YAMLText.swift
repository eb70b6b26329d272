/// Writes a tree as YAML.
struct YAMLText {
    /// A document with a line feed at its end.
    static func document(_ node: ConfigurationNode) -> String {
        var text = ""
        YAMLText().append(node, indent: 0, to: &text)
        return text
    }

    /// The same of what stands in a file, whose references stay what they are.
    static func source(_ node: ConfigurationNode) -> String {
        var text = ""
        YAMLText(isSource: true).append(node, indent: 0, to: &text)
        return text
    }

    private var isSource = false

    /// Writes what stands below a key, in lines of its own.
    private func append(_ node: ConfigurationNode, indent: Int, to text: inout String) {
        let margin = String(repeating: " ", count: indent)
        switch node.content {
        case .scalar, .sequence([]), .mapping([]), .unknown:
            text += margin + inline(node) + "\n"
        case .sequence(let elements):
            for element in elements {
                var lines = ""
                append(element, indent: indent + 2, to: &lines)
                text += margin + "- " + lines.dropFirst(indent + 2)
            }
        case .mapping(let members):
            for member in members {
                text += margin + scalar(member.key, .quoted) + ":"
                guard !isShort(member.value) else {
                    text += " " + inline(member.value) + "\n"
                    continue
                }
                text += "\n"
                append(member.value, indent: indent + 2, to: &text)
            }
        }
    }

    /// Scalars and lists of them fit on the line of their key.
    private func isShort(_ node: ConfigurationNode) -> Bool {
        switch node.content {
        case .scalar, .unknown: true
        case .mapping(let members): members.isEmpty
        case .sequence(let elements):
            elements.allSatisfy { element in
                if case .scalar = element.content { true } else { false }
            }
        }
    }

    private func inline(_ node: ConfigurationNode) -> String {
        switch node.content {
        case .scalar(let text, let style): scalar(text, style)
        case .sequence(let elements): "[" + elements.map(inline).joined(separator: ", ") + "]"
        case .mapping: "{}"
        case .unknown: "null"
        }
    }

    /// A plain text stands as it is; another is quoted unless it is harmless.
    private func scalar(_ text: String, _ style: ConfigurationNode.Style) -> String {
        if isSource { return sourceScalar(text, style) }
        if style == .plain || YAMLText.isHarmless(text) { return text }
        // A reference must not be taken for one again.
        return YAMLText.quoted(text.replacing("${", with: "$${"))
    }

    /// The same, where plain texts are those of a file, which may be anything.
    private func sourceScalar(_ text: String, _ style: ConfigurationNode.Style) -> String {
        if YAMLText.isMeaning(text) || JSONNumber(text) != nil {
            guard style == .plain else { return YAMLText.quoted(text) }
            return text.isEmpty ? "null" : text
        }
        return YAMLText.isHarmless(text) ? text : YAMLText.quoted(text)
    }

    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        JSONWriter.appendString(text.utf8, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Words that mean something else when they are not quoted.
    private static let meanings: Set = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"]

    private static func isMeaning(_ text: String) -> Bool {
        text.isEmpty || text == "~" || meanings.contains(text.lowercased())
    }

    private static func isHarmless(_ text: String) -> Bool {
        guard let first = text.utf8.first, let last = text.utf8.last,
            first.isWordByte || first == UInt8(ascii: "/"),
            last != UInt8(ascii: ":"), !isMeaning(text)
        else { return false }
        return text.utf8.allSatisfy { $0.isWordByte || "/.:-".utf8.contains($0) }
    }
}

extension UInt8 {
    fileprivate var isWordByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
