/// Topics that a subscriber asks for: dot-separated words, of which `*` stands for one and a last `>` for one or more.
package struct TopicPattern: Hashable, Sendable {
    /// As it was written.
    package let text: String
    /// Without the `>` at the end.
    private let words: [Word]
    private let isOpen: Bool

    private enum Word: Hashable {
        case any
        case exactly([UInt8])
    }

    /// Nil if a word is empty, or has a wildcard that does not stand alone, or `>` is not the last one.
    package init?(_ text: String) {
        self.text = text
        var parts = text.utf8.split(separator: dot, omittingEmptySubsequences: false)[...]
        isOpen = parts.last?.elementsEqual([rest]) ?? false
        if isOpen { parts = parts.dropLast() }
        var words: [Word] = []
        for part in parts {
            if part.elementsEqual([star]) {
                words.append(.any)
            } else if !part.isEmpty, !part.contains(star), !part.contains(rest) {
                words.append(.exactly(Array(part)))
            } else {
                return nil
            }
        }
        self.words = words
    }

    /// The one topic that it matches; nil if it has a wildcard.
    var onlyTopic: String? { isOpen || words.contains(.any) ? nil : text }

    package func matches(_ topic: String) -> Bool {
        let topic = topic.utf8
        var at: String.UTF8View.Index? = topic.startIndex
        for word in words {
            guard let start = at else { return false }
            let end = topic[start...].firstIndex(of: dot) ?? topic.endIndex
            if case .exactly(let bytes) = word, !topic[start..<end].elementsEqual(bytes) { return false }
            at = end < topic.endIndex ? topic.index(after: end) : nil
        }
        return isOpen == (at != nil)
    }
}

private let dot = UInt8(ascii: ".")
private let star = UInt8(ascii: "*")
private let rest = UInt8(ascii: ">")
