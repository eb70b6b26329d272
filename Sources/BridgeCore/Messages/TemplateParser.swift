/// Reads the text of a template.
struct TemplateParser {
    /// Of the message at hand, each once.
    private(set) var pointers: [JSONPointer] = []
    private var depth = 0

    private static let deepest = 20
    private static let malformed = MalformedValue(
        "a template in which {{…}} is {{POINTER}}, {{last:POINTER}}, {{var:NAME}}, {{now}}, {{nowMillis}}, {{uuid}}, "
            + "{{counter}}, {{sha256base64:ARGUMENT}} or {{base64:TEXT}}, a pointer begins with / and \\{{ is a "
            + "literal {{"
    )

    mutating func pieces(of text: ArraySlice<UInt8>) throws(MalformedValue) -> [Template.Piece] {
        depth += 1
        defer { depth -= 1 }
        guard depth <= TemplateParser.deepest else { throw TemplateParser.malformed }
        var pieces: [Template.Piece] = []
        var literal: [UInt8] = []
        var rest = text
        while !rest.isEmpty {
            if rest.starts(with: escaped) {
                literal += opening
                rest = rest.dropFirst(escaped.count)
            } else if rest.starts(with: opening) {
                let content = try content(of: rest)
                if !literal.isEmpty { pieces.append(.text(literal)) }
                literal = []
                pieces.append(try piece(content))
                rest = rest[(content.endIndex + closing.count)...]
            } else {
                literal.append(rest.removeFirst())
            }
        }
        if !literal.isEmpty { pieces.append(.text(literal)) }
        return pieces
    }

    /// What stands between the braces at the beginning and those that belong to them.
    private func content(of text: ArraySlice<UInt8>) throws(MalformedValue) -> ArraySlice<UInt8> {
        let start = text.startIndex + opening.count
        var open = 0
        var rest = text[start...]
        while let byte = rest.first {
            if rest.starts(with: escaped) {
                rest = rest.dropFirst(escaped.count)
                continue
            }
            if open == 0, rest.starts(with: closing) { return text[start..<rest.startIndex] }
            if byte == UInt8(ascii: "{") { open += 1 }
            if byte == UInt8(ascii: "}") { open -= 1 }
            guard open >= 0 else { break }
            rest = rest.dropFirst()
        }
        throw TemplateParser.malformed
    }

    private mutating func piece(_ content: ArraySlice<UInt8>) throws(MalformedValue) -> Template.Piece {
        let text = String(decoding: content, as: UTF8.self)
        if content.first == UInt8(ascii: "/") {
            return .value(.message(number(of: try pointer(content))), .plain)
        }
        switch text {
        case "now": return .now
        case "nowMillis": return .nowMilliseconds
        case "uuid": return .uuid
        case "counter": return .counter
        case _: break
        }
        guard let colon = content.firstIndex(of: UInt8(ascii: ":")) else { throw TemplateParser.malformed }
        let argument = content[(colon + 1)...]
        switch String(decoding: content[..<colon], as: UTF8.self) {
        case "last":
            return .value(.last(try pointer(argument)), .plain)
        case "var":
            guard !argument.isEmpty else { throw TemplateParser.malformed }
            return .value(.variable(String(decoding: argument, as: UTF8.self)), .plain)
        case "base64":
            guard let bytes = Base64.decode(Array(argument)), String(validating: bytes, as: UTF8.self) != nil
            else { throw TemplateParser.malformed }
            return .text(bytes)
        case "sha256base64":
            return .digest(try pieces(of: argument).map { $0.at(.digest) })
        case _:
            throw TemplateParser.malformed
        }
    }

    private func pointer(_ text: ArraySlice<UInt8>) throws(MalformedValue) -> JSONPointer {
        guard text.first == UInt8(ascii: "/"),
            let pointer = JSONPointer(String(decoding: text, as: UTF8.self))
        else {
            throw TemplateParser.malformed
        }
        return pointer
    }

    private mutating func number(of pointer: JSONPointer) -> Int {
        if let number = pointers.firstIndex(of: pointer) { return number }
        pointers.append(pointer)
        return pointers.count - 1
    }
}

private let opening = Array("{{".utf8)
private let closing = Array("}}".utf8)
private let escaped = Array("\\{{".utf8)

extension Template.Piece {
    /// The same at another position, if that matters to it.
    func at(_ position: Template.Position) -> Template.Piece {
        if case .value(let source, _) = self { .value(source, position) } else { self }
    }
}
