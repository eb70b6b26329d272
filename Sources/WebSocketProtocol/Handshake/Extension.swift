/// One entry of `Sec-WebSocket-Extensions` (RFC 6455 §9.1).
struct Extension: Equatable, Sendable {
    struct Parameter: Equatable, Sendable {
        var name: String
        /// Nil for a parameter without a value; a quoted value is unquoted.
        var value: String?
    }

    var name: String
    var parameters: [Parameter] = []

    /// Whether no parameter stands twice.
    var hasDistinctParameters: Bool {
        Set(parameters.map(\.name)).count == parameters.count
    }

    /// The entries of all fields of that name; nil when one of them breaks the grammar.
    static func list(_ values: [String]) -> [Extension]? {
        var entries: [Extension] = []
        for value in values {
            var parser = ExtensionParser(rest: Array(value.utf8)[...])
            guard let parsed = parser.list() else { return nil }
            entries += parsed
        }
        return entries
    }
}

/// Reads the grammar of RFC 6455 §9.1: names and values are tokens, values also quoted ones.
private struct ExtensionParser {
    var rest: ArraySlice<UInt8>

    mutating func list() -> [Extension]? {
        var entries: [Extension] = []
        repeat {
            // Lists may have empty elements (RFC 9110 §5.6.1).
            skipSpace()
            if rest.isEmpty || rest.first == UInt8(ascii: ",") { continue }
            guard let entry = entry() else { return nil }
            entries.append(entry)
        } while take(",")
        return rest.isEmpty ? entries : nil
    }

    private mutating func entry() -> Extension? {
        guard let name = token() else { return nil }
        var entry = Extension(name: name.lowercasedASCII)
        while take(";") {
            guard let name = token() else { return nil }
            var parameter = Extension.Parameter(name: name.lowercasedASCII)
            if take("=") {
                guard let value = take("\"") ? quoted() : token() else { return nil }
                parameter.value = value
            }
            entry.parameters.append(parameter)
        }
        return entry
    }

    /// After the opening quote: the content, which must be a token once unquoted.
    private mutating func quoted() -> String? {
        var content: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            guard let plain = byte == UInt8(ascii: "\\") ? rest.popFirst() : byte else { return nil }
            content.append(plain)
        }
        let text = String(decoding: content, as: UTF8.self)
        return text.isToken ? text : nil
    }

    private mutating func token() -> String? {
        skipSpace()
        let token = rest.prefix { $0.isTokenCharacter }
        rest = rest.dropFirst(token.count)
        return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func skipSpace() {
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
    }
}
