/// An IP address, read from its text form without asking the system.
package enum IPAddress: Hashable, Sendable {
    /// The four octets in network order, the first in the highest bits.
    case v4(UInt32)
    /// The eight groups of RFC 4291 §2.2.
    case v6([UInt16])

    /// Reads dotted decimals (four of them, no leading zeros) or the forms of RFC 4291 §2.2, without a zone.
    package init?(_ text: some StringProtocol) {
        if let octets = IPAddress.dottedQuad(text) {
            self = .v4(octets)
        } else if let groups = IPAddress.groups(text) {
            self = .v6(groups)
        } else {
            return nil
        }
    }

    /// 127.0.0.0/8, ::1, and the former mapped into IPv6.
    package var isLoopback: Bool {
        switch self {
        case .v4(let octets): octets >> 24 == 127
        case .v6(let groups):
            groups == [0, 0, 0, 0, 0, 0, 0, 1]
                || (groups.starts(with: [0, 0, 0, 0, 0, 0xFFFF]) && groups[6] >> 8 == 127)
        }
    }

    private static func dottedQuad(_ text: some StringProtocol) -> UInt32? {
        let parts = text.split(separator: ".", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var octets: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy(isDigit), let octet = UInt8(part),
                part.utf8.count == 1 || part.utf8.first != UInt8(ascii: "0")
            else { return nil }
            octets = octets << 8 | UInt32(octet)
        }
        return octets
    }

    private static func groups(_ text: some StringProtocol) -> [UInt16]? {
        guard text.utf8.count <= 45 else { return nil }
        guard let gap = gap(in: text) else {
            let groups = groupRun(text)
            return groups?.count == 8 ? groups : nil
        }
        let head = text[..<gap]
        let tail = text[text.index(gap, offsetBy: 2)...]
        guard let left = head.isEmpty ? [] : groupRun(head, dottedEnd: false),
            let right = tail.isEmpty ? [] : groupRun(tail), left.count + right.count <= 7
        else { return nil }
        return left + Array(repeating: 0, count: 8 - left.count - right.count) + right
    }

    /// Where the first `::` stands.
    private static func gap<Text: StringProtocol>(in text: Text) -> Text.Index? {
        text.indices.first { text[$0...].hasPrefix("::") }
    }

    /// Groups joined by single colons; the last two may be written as dotted decimals.
    private static func groupRun(_ text: some StringProtocol, dottedEnd: Bool = true) -> [UInt16]? {
        var groups: [UInt16] = []
        let parts = text.split(separator: ":", maxSplits: 8, omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if (1...4).contains(part.utf8.count), part.utf8.allSatisfy(isHexDigit),
                let group = UInt16(part, radix: 16)
            {
                groups.append(group)
            } else if dottedEnd, index == parts.count - 1, let octets = dottedQuad(part) {
                groups += [UInt16(octets >> 16), UInt16(truncatingIfNeeded: octets)]
            } else {
                return nil
            }
        }
        return groups.count <= 8 ? groups : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}
