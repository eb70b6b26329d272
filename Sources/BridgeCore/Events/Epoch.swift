/// Names one life of the event log's sequence, so that an id of an earlier life is recognised.
///
/// In text it has always 12 characters, digits and lower-case letters; later starts sort later.
package struct Epoch: Hashable, Sendable {
    /// 60 bits: 40 of the start time in milliseconds, which wrap after 34 years, then 20 random ones.
    package let bits: UInt64

    /// A new epoch; two that start in the same millisecond differ but for one chance in a million.
    package init(startedAt time: WallTime, random: inout some RandomNumberGenerator) {
        let milliseconds = UInt64(bitPattern: time.millisecondsSince1970) & (1 << 40 - 1)
        bits = milliseconds << 20 | random.next() >> 44
    }

    /// An epoch that was kept; of `bits` the lower 60 count.
    package init(bits: UInt64) {
        self.bits = bits & (1 << 60 - 1)
    }

    /// Nil unless `text` is what `text` of an epoch is.
    package init?(text: some Collection<UInt8>) {
        guard text.count == Epoch.textLength else { return nil }
        var bits: UInt64 = 0
        for byte in text {
            guard let digit = alphabet.firstIndex(of: byte) else { return nil }
            bits = bits << 5 | UInt64(digit)
        }
        self.bits = bits
    }

    package var text: String {
        let bytes = [UInt8](capacity: Epoch.textLength) { appendText(to: &$0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    func appendText(to output: inout OutputSpan<UInt8>) {
        for place in 1...Epoch.textLength {
            let digit = bits >> UInt64(5 * (Epoch.textLength - place)) & 31
            output.append(alphabet[Int(digit)])
        }
    }

    package static let textLength = 12
}

/// Without i, l, o and u, which are easily misread.
private let alphabet = [UInt8]("0123456789abcdefghjkmnpqrstvwxyz".utf8)
