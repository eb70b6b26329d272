/// A place in the text of a template at which something is to be put in, and that must not change what is around it.
struct TemplatePlace {
    /// Inside of `{{…}}`, as in the argument of a hash.
    private var depth = 0
    /// Inside a string of what looks like JSON.
    private var isInString = false

    /// Looks at all of the text that comes before.
    init(after text: [UInt8]) {
        let first = text.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let isJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        var rest = text[...]
        while let byte = rest.first {
            var length = 1
            if rest.starts(with: "\\{{".utf8) {
                length = 3
            } else if rest.starts(with: "{{".utf8) {
                depth += 1
                length = 2
            } else if depth > 0 {
                if rest.starts(with: "}}".utf8) {
                    depth -= 1
                    length = 2
                }
            } else if isInString, byte == UInt8(ascii: "\\") {
                length = 2
            } else if isJSON, byte == UInt8(ascii: "\"") {
                isInString.toggle()
            }
            rest = rest.dropFirst(length)
        }
    }

    /// The text as it must be written to stand there for itself.
    func fitted(_ text: String) -> String {
        // What it ends with must not be taken for a part of braces that follow, nor in the argument of a hash any brace
        // for one of the template's own.
        let hasMistakableEnd = text.hasSuffix("\\") || text.hasSuffix("{")
        let isMistakable = depth > 0 && text.utf8.contains { "{}".utf8.contains($0) }
        guard !isMistakable, !hasMistakableEnd || depth == 0 && isInString else {
            var encoded: [UInt8] = []
            Base64.append(Array(text.utf8), to: &encoded)
            return "{{base64:\(String(decoding: encoded, as: UTF8.self))}}"
        }
        var fitted = text
        if isInString, depth == 0 {
            var bytes: [UInt8] = []
            JSONWriter.appendString(text.utf8, to: &bytes)
            fitted = String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
                .replacing(#"\\"#, with: #"\u005c"#)
            if hasMistakableEnd { fitted = fitted.replacing("{", with: #"\u007b"#) }
        }
        return fitted.replacing("{{", with: #"\{{"#)
    }
}
