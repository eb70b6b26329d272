/// Reads JSON (RFC 8259) into the tree that a configuration is made of.
enum JSONTree {
    /// Far more than a connection has settings, and so few that nobody has to wait while they are looked at.
    static let mostNodes = 5000

    /// The tree of a document, with what is wrong with it; throws if it is no JSON, or too much of it.
    static func read(_ document: [UInt8]) throws(ConfigurationFault) -> ConfigurationTree {
        let isText = String(validating: document, as: UTF8.self) != nil
        guard isText, JSONSearch.isJSON(document.span) else {
            throw ConfigurationFault(line: 1, "expected JSON: an object with the settings of a connection")
        }
        var walk = JSONTokens()
        return try walk.tree(of: document.span)
    }
}

/// One pass over the tokens of a document whose grammar was checked.
private struct JSONTokens {
    private var builder = ConfigurationTreeBuilder(mostNodes: JSONTree.mostNodes)
    private var at = 0
    private var line = 1

    mutating func tree(of bytes: Span<UInt8>) throws(ConfigurationFault) -> ConfigurationTree {
        while at < bytes.count { try take(bytes) }
        return builder.finish()
    }

    private mutating func take(_ bytes: Span<UInt8>) throws(ConfigurationFault) {
        let start = at
        at += 1
        switch bytes[start] {
        case UInt8(ascii: "\n"): line += 1
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: ","), UInt8(ascii: ":"):
            break
        case UInt8(ascii: "{"): try report(.mappingStart(anchor: nil))
        case UInt8(ascii: "["): try report(.sequenceStart(anchor: nil))
        case UInt8(ascii: "}"), UInt8(ascii: "]"): try report(.end)
        case UInt8(ascii: "\""):
            skipString(bytes)
            let content = JSONString.decoded(bytes.extracting((start + 1)..<(at - 1)))
            try report(.scalar(String(decoding: content, as: UTF8.self), .quoted, anchor: nil))
        case _:
            while at < bytes.count, bytes[at].isWord { at += 1 }
            let word = (start..<at).map { bytes[$0] }
            try report(.scalar(String(decoding: word, as: UTF8.self), .plain, anchor: nil))
        }
    }

    /// Passes over the rest of a string and the quote at its end.
    private mutating func skipString(_ bytes: Span<UInt8>) {
        while true {
            at = JSONString.endOfPlain(in: bytes, from: at)
            at += 1
            guard bytes[at - 1] == UInt8(ascii: "\\") else { return }
            at += 1
        }
    }

    private mutating func report(_ event: ConfigurationTreeBuilder.Event) throws(ConfigurationFault) {
        try builder.handle(event, at: ConfigurationNode.Position(line: line, column: 1))
    }
}

extension UInt8 {
    /// It is of a number, or of `true`, `false` or `null`.
    fileprivate var isWord: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "E"),
            UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        case _: false
        }
    }
}
