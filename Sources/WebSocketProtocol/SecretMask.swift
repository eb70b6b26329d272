/// Shows what a peer or a program says without the secrets that it was told.
package struct SecretMask: Sendable {
    private static let mask = Array("***".utf8)

    /// By the bytes that they begin with, since there may be thousands; the longest first.
    private let secrets: [ArraySlice<UInt8>: [[UInt8]]]
    /// Bytes of the longest secret.
    package let longest: Int
    /// Shorter secrets would be found everywhere.
    private static let shortest = 3

    /// Masks these texts, as a whole and in the parts that may be repeated alone, unless those have one or two bytes.
    package init(_ secrets: [String]) {
        let words = secrets.flatMap { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
        let parts = words.flatMap { $0.split(whereSeparator: { ";,&=?".contains($0) }).map(String.init) }
        let all = secrets + words + parts + parts.map(\.percentDecoded)
        let distinct = Set(all.map { Array($0.utf8) }).filter { $0.count >= SecretMask.shortest }
        let sorted = distinct.sorted { $0.count > $1.count }
        longest = sorted.first?.count ?? 0
        self.secrets = Dictionary(grouping: sorted) { $0.prefix(SecretMask.shortest) }
    }

    /// The beginning of `text` of at most so many bytes, masked.
    ///
    /// Where `isCut`, more came than `text` has: a secret that is not there as a whole could not be recognised, so
    /// nothing is shown of an end in which one may begin. For all of `maximumBytes` it has `longest` more of them.
    package func shown(_ text: [UInt8], maximumBytes: Int, isCut: Bool) -> String {
        var shown: [UInt8] = []
        var rest = text[...]
        while shown.count < maximumBytes, rest.count >= (isCut ? max(longest, 1) : 1) {
            let candidates = secrets[rest.prefix(SecretMask.shortest)] ?? []
            if let secret = candidates.first(where: { rest.starts(with: $0) }) {
                shown += SecretMask.mask
                rest = rest.dropFirst(secret.count)
            } else {
                shown.append(rest.removeFirst())
            }
        }
        return String(decoding: shown.prefix(maximumBytes), as: UTF8.self)
    }
}

extension String {
    /// With `%41` read as `A`; what is no escape stays.
    fileprivate var percentDecoded: String {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
