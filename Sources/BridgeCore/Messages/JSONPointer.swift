/// A place in a JSON document (RFC 6901), such as `/d/heartbeat_interval`; the empty one is the whole document.
package struct JSONPointer: Hashable, Sendable {
    /// As it was written.
    package let text: String
    /// What to follow from the document down: names of members, or indexes of elements.
    let steps: [[UInt8]]

    /// Nil unless the text is a pointer: empty, or with a slash in front of each step, where `~0` stands for a
    /// tilde, `~1` for a slash, and no other tilde stands at all.
    package init?(_ text: String) {
        self.text = text
        guard !text.isEmpty else {
            steps = []
            return
        }
        guard text.utf8.first == slash else { return nil }
        var steps: [[UInt8]] = []
        for part in text.utf8.dropFirst().split(separator: slash, omittingEmptySubsequences: false) {
            guard let step = JSONPointer.unescaped(part) else { return nil }
            steps.append(step)
        }
        self.steps = steps
    }

    private static func unescaped(_ part: Substring.UTF8View) -> [UInt8]? {
        var step: [UInt8] = []
        var isEscaping = false
        for byte in part {
            switch (isEscaping, byte) {
            case (true, UInt8(ascii: "0")): step.append(tilde)
            case (true, UInt8(ascii: "1")): step.append(slash)
            case (true, _): return nil
            case (false, tilde): break
            case (false, _): step.append(byte)
            }
            isEscaping = !isEscaping && byte == tilde
        }
        return isEscaping ? nil : step
    }

    /// The element that a step names in an array: digits without leading zeros (RFC 6901 §4).
    static func index(_ step: [UInt8]) -> Int? {
        guard step == [UInt8(ascii: "0")] || step.first != UInt8(ascii: "0") else { return nil }
        return Int(digits: String(decoding: step, as: UTF8.self))
    }
}

private let slash = UInt8(ascii: "/")
private let tilde = UInt8(ascii: "~")
