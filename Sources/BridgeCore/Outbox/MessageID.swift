/// Names one message to be sent, over restarts too: its outbox, and a number within it.
///
/// As text it is `EPOCH-mOUTBOX.NUMBER`, which needs no escaping, neither in a URL nor in JSON, and which is never
/// taken for the id of an event.
package struct MessageID: Hashable, Sendable, CustomStringConvertible {
    package var outbox: OutboxID
    package var number: UInt64

    package init(outbox: OutboxID, number: UInt64) {
        self.outbox = outbox
        self.number = number
    }

    /// Reads the text form; nil for anything that `description` would not write.
    package init?(_ text: some StringProtocol) {
        guard let dash = text.firstIndex(of: "-"), let epoch = Epoch(text: text[..<dash].utf8) else {
            return nil
        }
        let rest = text[text.index(after: dash)...]
        guard rest.first == "m", let dot = rest.firstIndex(of: "."),
            let outbox = UInt64(digits: rest[..<dot].dropFirst()),
            let number = UInt64(digits: rest[rest.index(after: dot)...])
        else { return nil }
        self.init(outbox: OutboxID(epoch: epoch, number: outbox), number: number)
        guard description == text else { return nil }
    }

    package var description: String {
        var bytes: [UInt8] = []
        appendText(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func appendText(to bytes: inout [UInt8]) {
        let count = Epoch.textLength + 3 + outbox.number.decimalCount + number.decimalCount
        bytes.append(addingCapacity: count) { output in
            outbox.epoch.appendText(to: &output)
            output.append(UInt8(ascii: "-"))
            output.append(UInt8(ascii: "m"))
            output.appendDecimal(outbox.number)
            output.append(UInt8(ascii: "."))
            output.appendDecimal(number)
        }
    }
}
