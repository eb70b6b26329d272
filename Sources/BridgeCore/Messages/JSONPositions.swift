/// Finds out what a template's values stand in, if what the template makes is JSON.
enum JSONPositions {
    /// The pieces at their positions, with quotes around texts that stand where a value does; nil if it is no JSON.
    static func assign(to pieces: [Template.Piece]) -> [Template.Piece]? {
        var isInString = false
        var isEscaped = false
        // The template with the simplest values: an object or an array, or it is no JSON.
        var sample: [UInt8] = []
        let placed = pieces.flatMap { piece -> [Template.Piece] in
            guard case .text(let text) = piece else {
                sample.append(UInt8(ascii: "0"))
                return isInString ? [piece.at(.string)] : piece.asValue
            }
            for byte in text {
                if isInString, !isEscaped, byte == UInt8(ascii: "\\") {
                    isEscaped = true
                    continue
                }
                if byte == UInt8(ascii: "\""), !isEscaped { isInString.toggle() }
                isEscaped = false
            }
            sample += text
            return [piece]
        }
        let first = sample.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let isStructure = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        return isStructure && JSONSearch.isJSON(sample.span) ? placed : nil
    }
}

extension Template.Piece {
    /// What makes it a value of JSON.
    fileprivate var asValue: [Template.Piece] {
        switch self {
        case .now, .uuid, .digest: [.text(quote), self, .text(quote)]
        case .value: [at(.json)]
        case .text, .nowMilliseconds, .counter: [self]
        }
    }
}

private let quote = Array("\"".utf8)
