import WebSocketProtocol

/// The hosts that are reached without a proxy: what `NO_PROXY` says.
///
/// Entries are separated by commas or spaces: `*`; a name, which covers what is below it as well (`example.org`,
/// `.example.org` and `*.example.org` mean the same); an address; a block of addresses (`10.0.0.0/8`, `fd00::/8`). Each
/// but `*` and blocks may be followed by a port. Names are compared by whole labels, addresses by their bits, and never
/// one with the other.
package struct DirectHosts: Equatable, Sendable {
    private enum Pattern: Equatable, Sendable {
        case any
        /// In lower case, without dots around it.
        case name(String)
        case block(bytes: [UInt8], prefix: Int)
    }

    private struct Entry: Equatable, Sendable {
        var pattern: Pattern
        var port: UInt16?
    }

    private var entries: [Entry] = []
    /// What is no entry and covers nothing.
    package private(set) var malformed: [String] = []

    package init(_ text: String = "") {
        for word in text.split(whereSeparator: { ", \t\r\n".contains($0) }) {
            if let entry = DirectHosts.entry(word) {
                entries.append(entry)
            } else {
                malformed.append(String(word))
            }
        }
    }

    /// Whether the host, a name or an address without brackets, is reached without a proxy.
    package func cover(_ destination: Destination) -> Bool {
        let address = IPAddress.bytes(of: destination.host).map(DirectHosts.plain)
        let name = DirectHosts.trimmed(destination.host)
        return entries.contains { entry in
            guard entry.port == nil || entry.port == destination.port else { return false }
            switch entry.pattern {
            case .any: return true
            case .name(let parent): return address == nil && (name == parent || name.hasSuffix("." + parent))
            case .block(let bytes, let prefix):
                return address.map { DirectHosts.agree($0, bytes, bits: prefix) } ?? false
            }
        }
    }

    // MARK: Entries

    private static func entry(_ word: Substring) -> Entry? {
        if word == "*" { return Entry(pattern: .any) }
        if let block = block(word) { return Entry(pattern: block) }
        guard !word.contains("/") else { return nil }
        let bare = word.hasPrefix("*.") ? word.dropFirst(2) : word.hasPrefix(".") ? word.dropFirst() : word
        guard let authority = try? URLAuthority(Array(bare.utf8)[...]), authority.credentials == nil else {
            return nil
        }
        guard let address = block(authority.host[...]) else {
            return Entry(pattern: .name(trimmed(authority.host)), port: authority.port)
        }
        return bare.count == word.count ? Entry(pattern: address, port: authority.port) : nil
    }

    /// An address, or one with the number of bits that count.
    private static func block(_ text: Substring) -> Pattern? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bytes = parts.first.flatMap({ IPAddress.bytes(of: $0) }) else { return nil }
        let bits = bytes.count * 8
        var prefix = bits
        if parts.count == 2 {
            guard let given = Int(digits: parts[1]), given <= bits else { return nil }
            prefix = given
        }
        let plain = plain(bytes)
        // Of a mapped address the bits before the IPv4 address are those of all such.
        guard plain.count < bytes.count, prefix >= 96 else { return .block(bytes: bytes, prefix: prefix) }
        return .block(bytes: plain, prefix: prefix - 96)
    }

    /// The IPv4 address that an IPv6 address stands for (`::ffff:192.0.2.1`), else the address itself.
    private static func plain(_ bytes: [UInt8]) -> [UInt8] {
        let mapping = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        return bytes.count == 16 && bytes.starts(with: mapping) ? Array(bytes.suffix(4)) : bytes
    }

    private static func agree(_ address: [UInt8], _ block: [UInt8], bits: Int) -> Bool {
        guard address.count == block.count else { return false }
        return address.indices.allSatisfy { index in
            let relevant = min(max(bits - index * 8, 0), 8)
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> relevant)
            return (address[index] ^ block[index]) & mask == 0
        }
    }

    private static func trimmed(_ name: String) -> String {
        let lower = name.lowercasedASCII
        return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
    }
}
