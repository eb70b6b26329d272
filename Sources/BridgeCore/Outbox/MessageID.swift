/// Names one message to be sent, over restarts too: the epoch of the process, and a number within it.
///
/// As text it is `EPOCH-mNUMBER`, which needs no escaping, neither in a URL nor in JSON, and which is never taken for
/// the id of an event.
package struct MessageID: Hashable, Sendable, CustomStringConvertible {
    package var epoch: Epoch
    package var number: UInt64

    package init(epoch: Epoch, number: UInt64) {
        self.epoch = epoch
        self.number = number
    }

    /// Reads the text form; nil for anything that `description` would not write.
    package init?(_ text: some StringProtocol) {
        guard let dash = text.firstIndex(of: "-"), let epoch = Epoch(text: text[..<dash].utf8) else {
            return nil
        }
        let rest = text[text.index(after: dash)...]
        guard rest.first == "m", let number = UInt64(digits: rest.dropFirst()) else { return nil }
        self.init(epoch: epoch, number: number)
        guard description == text else { return nil }
    }

    package var description: String {
        var bytes: [UInt8] = []
        appendText(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func appendText(to bytes: inout [UInt8]) {
        bytes.append(addingCapacity: Epoch.textLength + 2 + number.decimalCount) { output in
            epoch.appendText(to: &output)
            output.append(UInt8(ascii: "-"))
            output.append(UInt8(ascii: "m"))
            output.appendDecimal(number)
        }
    }
}
