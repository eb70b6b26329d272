/// Writes a tree as YAML.
enum YAMLText {
    /// A document with a line feed at its end.
    static func document(_ node: ConfigurationNode) -> String {
        var text = ""
        append(node, indent: 0, to: &text)
        return text
    }

    /// Writes what stands below a key, in lines of its own.
    private static func append(_ node: ConfigurationNode, indent: Int, to text: inout String) {
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
    private static func isShort(_ node: ConfigurationNode) -> Bool {
        switch node.content {
        case .scalar, .unknown: true
        case .mapping(let members): members.isEmpty
        case .sequence(let elements):
            elements.allSatisfy { element in
                if case .scalar = element.content { true } else { false }
            }
        }
    }

    private static func inline(_ node: ConfigurationNode) -> String {
        switch node.content {
        case .scalar(let text, let style): scalar(text, style)
        case .sequence(let elements): "[" + elements.map(inline).joined(separator: ", ") + "]"
        case .mapping: "{}"
        case .unknown: "null"
        }
    }

    /// A plain text stands as it is; another is quoted unless it is harmless.
    private static func scalar(_ text: String, _ style: ConfigurationNode.Style) -> String {
        if style == .plain || isHarmless(text) { return text }
        // A reference must not be taken for one again.
        let escaped = text.split(separator: "${", omittingEmptySubsequences: false).joined(separator: "$${")
        var bytes: [UInt8] = []
        JSONWriter.appendString(escaped.utf8, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Words that mean something else when they are not quoted.
    private static let meanings: Set = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"]

    private static func isHarmless(_ text: String) -> Bool {
        guard let first = text.utf8.first, let last = text.utf8.last,
            first.isWordByte || first == UInt8(ascii: "/"),
            last != UInt8(ascii: ":"), !meanings.contains(text.lowercased())
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
