/// The public name of a record, `EPOCH-SEQ`, and a cursor in every stream: all up to it has been seen.
///
/// Sequence 0 stands before the first record of its epoch.
package struct EventID: Hashable, Sendable {
    package let epoch: Epoch
    package let sequence: UInt64

    package init(epoch: Epoch, sequence: UInt64) {
        self.epoch = epoch
        self.sequence = sequence
    }

    /// Reads what `text` writes, nothing else: an id has one spelling.
    package init?(text: some StringProtocol) {
        let bytes = text.utf8
        guard let dash = bytes.firstIndex(of: UInt8(ascii: "-")), let epoch = Epoch(text: bytes[..<dash])
        else { return nil }
        let digits = bytes[bytes.index(after: dash)...]
        guard let sequence = EventID.sequence(digits) else { return nil }
        self.init(epoch: epoch, sequence: sequence)
    }

    package var text: String {
        var bytes: [UInt8] = []
        appendText(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    package func appendText(to bytes: inout [UInt8]) {
        bytes.append(addingCapacity: Epoch.textLength + 1 + sequence.decimalCount) { output in
            epoch.appendText(to: &output)
            output.append(UInt8(ascii: "-"))
            output.appendDecimal(sequence)
        }
    }

    private static func sequence(_ digits: some Collection<UInt8>) -> UInt64? {
        guard let first = digits.first, first != UInt8(ascii: "0") || digits.count == 1 else { return nil }
        var value: UInt64 = 0
        for byte in digits {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carried) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            guard !overflow, !carried else { return nil }
            value = sum
        }
        return value
    }
}
