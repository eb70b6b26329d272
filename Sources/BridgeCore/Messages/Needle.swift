/// A text that is looked for in others, each in one pass, however often it nearly stands there (Knuth, Morris, Pratt).
package struct Needle: Equatable, Sendable {
    package let text: String
    private let bytes: [UInt8]
    /// How much of the text still stands there when the byte after so much of it is another.
    private let fallbacks: [Int]

    package init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
        var fallbacks = Array(repeating: 0, count: bytes.count)
        var matched = 0
        for index in bytes.indices.dropFirst() {
            while matched > 0, bytes[index] != bytes[matched] { matched = fallbacks[matched - 1] }
            if bytes[index] == bytes[matched] { matched += 1 }
            fallbacks[index] = matched
        }
        self.fallbacks = fallbacks
    }

    func isFound(in haystack: Span<UInt8>) -> Bool {
        guard haystack.count >= bytes.count else { return false }
        guard !bytes.isEmpty else { return true }
        let needle = bytes.span
        var matched = 0
        for index in haystack.indices {
            let byte = haystack[index]
            while matched > 0, byte != needle[matched] { matched = fallbacks[matched - 1] }
            if byte == needle[matched] { matched += 1 }
            if matched == needle.count { return true }
        }
        return false
    }
}
