package import WebSocketProtocol

/// A topic with places that are filled in from the message that it is given to: `orders.{{/symbol}}`.
///
/// A value is one word of it, whatever stands in it: what could end the word, be taken for a wildcard, or not be shown is
/// replaced by `_`, and so is what is empty.
package struct TopicTemplate: Equatable, Sendable {
    /// A longer value is cut off.
    static let longestValue = 128

    private enum Part: Equatable {
        case text(String)
        case value(Int)
    }

    /// As it was written.
    package let source: String
    private let parts: [Part]
    /// Of the message at hand.
    let pointers: [JSONPointer]
    private let search: JSONSearch

    /// - Throws: `MalformedValue`, if it is no template of a topic: of others than values of the message there are none.
    package init(_ source: String) throws(MalformedValue) {
        let template = try Template(source)
        var parts: [Part] = []
        var sample = ""
        for piece in template.pieces {
            switch piece {
            case .text(let bytes):
                let text = String(decoding: bytes, as: UTF8.self)
                parts.append(.text(text))
                sample += text
            case .value(.message(let number), _):
                parts.append(.value(number))
                sample += "x"
            case .value, .now, .nowMilliseconds, .uuid, .counter, .digest:
                throw TopicTemplate.malformed
            }
        }
        guard sample.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }),
            TopicPattern(sample)?.onlyTopic != nil
        else { throw TopicTemplate.malformed }
        self.source = source
        self.parts = parts
        pointers = template.pointers
        search = template.search
    }

    private static let malformed = MalformedValue(
        "a topic: words with dots between them, without spaces, `*` and `>`, in which {{POINTER}} may stand"
    )

    /// The topic of a message.
    package func topic(of message: Message) -> String {
        let found =
            search.count == 0 ? [] : message.values(search) ?? Array(repeating: nil, count: search.count)
        return topic(of: message, at: found)
    }

    /// The same, where it is known where its values stand.
    func topic(of message: Message, at found: [Range<Int>?]) -> String {
        var topic = ""
        for part in parts {
            switch part {
            case .text(let text): topic += text
            case .value(let number): topic += TopicTemplate.word(found[number].map { message.bytes[$0] })
            }
        }
        return topic
    }

    private static func word(_ value: ArraySlice<UInt8>?) -> String {
        guard let value else { return "_" }
        let text = String(decoding: JSONString.meaning(of: value), as: UTF8.self)
        var word = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(longestValue) {
            let isFit =
                scalar.value > 0x20 && scalar.value != 0x7F && scalar != "." && scalar != "*" && scalar != ">"
            word.append(isFit ? scalar : "_")
        }
        return word.isEmpty ? "_" : String(word)
    }
}
