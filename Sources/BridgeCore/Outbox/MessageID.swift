/// Names one message to be sent, over restarts too: the epoch of the process, and a number within it.
///
/// As text it is `EPOCH-mNUMBER`, which needs no escaping in a URL as long as the epoch needs none, and which is
/// never taken for the id of an event.
package struct MessageID: Hashable, Sendable, CustomStringConvertible {
    package var epoch: String
    package var number: UInt64

    package init(epoch: String, number: UInt64) {
        self.epoch = epoch
        self.number = number
    }

    /// Reads the text form; nil for anything that `description` would not write.
    package init?(_ text: some StringProtocol) {
        guard let dash = text.lastIndex(of: "-"), dash > text.startIndex else { return nil }
        let rest = text[text.index(after: dash)...]
        guard rest.first == "m", let number = UInt64(digits: rest.dropFirst()) else { return nil }
        self.init(epoch: String(text[..<dash]), number: number)
        guard description == text else { return nil }
    }

    package var description: String { "\(epoch)-m\(number)" }
}
