/// A text that must never be shown: it prints, dumps and mirrors as `[secret]`.
package struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let bytes: [UInt8]

    package init(_ text: some StringProtocol) {
        bytes = Array(text.utf8)
    }

    /// The text itself, for a peer that must be shown it.
    package var revealed: String { String(decoding: bytes, as: UTF8.self) }

    package var description: String { "[secret]" }
    package var debugDescription: String { "[secret]" }
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// Whether `presented` is this secret.
    ///
    /// The time that takes depends on the length of the secret alone: neither on what was presented nor on
    /// where the two differ.
    package func matches(_ presented: [UInt8]) -> Bool {
        var difference = bytes.count ^ presented.count
        for index in bytes.indices {
            let other = index < presented.count ? presented[index] : 0
            difference |= Int(bytes[index] ^ other)
        }
        return difference == 0
    }
}

extension Secret: Hashable {
    package static func == (left: Secret, right: Secret) -> Bool {
        left.matches(right.bytes)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
