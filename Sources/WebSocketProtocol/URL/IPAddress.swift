/// Tells addresses from names.
package enum IPAddress {
    /// Whether `text` is an address of either kind, IPv6 without brackets.
    package static func isLiteral(_ text: String) -> Bool {
        isIPv4(text) || isIPv6(text)
    }

    /// Four decimal numbers of 0–255 without leading zeros.
    package static func isIPv4(_ text: some StringProtocol) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { isOctet(Array($0)) }
    }

    private static func isOctet(_ digits: [UInt8]) -> Bool {
        guard (1...3).contains(digits.count), digits.count == 1 || digits[0] != UInt8(ascii: "0") else {
            return false
        }
        guard digits.allSatisfy({ $0.isASCIIDigit }) else { return false }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } <= 255
    }

    /// The forms of RFC 4291 §2.2, without a zone.
    package static func isIPv6(_ text: some StringProtocol) -> Bool {
        guard text.utf8.contains(UInt8(ascii: ":")) else { return false }
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        // Each `::` shows as one empty group between two others, at an end as two.
        var full = groups[...]
        var gaps = 0
        if full.first?.isEmpty == true {
            guard full.dropFirst().first?.isEmpty == true else { return false }
            full = full.dropFirst()
        }
        if full.last?.isEmpty == true {
            guard full.dropLast().last?.isEmpty == true else { return false }
            full = full.dropLast()
        }
        // `::` alone is three empty groups, of which one is left.
        var count = 0
        for (index, group) in full.enumerated() {
            if group.isEmpty {
                gaps += 1
            } else if index == full.count - 1, isIPv4(group) {
                count += 2
            } else if group.utf8.count <= 4, group.utf8.allSatisfy(\.isHexDigit) {
                count += 1
            } else {
                return false
            }
        }
        return gaps == 0 ? count == 8 : gaps == 1 && count <= 7
    }

    /// The 4 or 16 bytes of an address in network order, nil if `text` is none.
    package static func bytes(of text: some StringProtocol) -> [UInt8]? {
        if isIPv4(text) { return text.split(separator: ".").compactMap { UInt8($0) } }
        guard isIPv6(text) else { return nil }
        // At most one `::`, which stands for the zeros between what is before and after it.
        var sides: [[UInt8]] = [[]]
        for group in text.split(separator: ":", omittingEmptySubsequences: false) {
            if group.isEmpty {
                if sides.count == 1 { sides.append([]) }
            } else if isIPv4(group) {
                sides[sides.count - 1] += group.split(separator: ".").compactMap { UInt8($0) }
            } else {
                let value = UInt16(group, radix: 16) ?? 0
                sides[sides.count - 1] += [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)]
            }
        }
        let zeros = [UInt8](repeating: 0, count: 16 - sides.reduce(0) { $0 + $1.count })
        return sides[0] + zeros + (sides.count > 1 ? sides[1] : [])
    }
}

extension UInt8 {
    var isASCIIDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }

    var isHexDigit: Bool { hexValue != nil }

    /// The value of a hexadecimal digit in either case.
    var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    var isASCIILetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercasedASCII)
    }
}
