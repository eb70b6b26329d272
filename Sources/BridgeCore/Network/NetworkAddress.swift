/// An IPv4 or IPv6 address as the kernel has it; an IPv4 address that is written as IPv6 counts as IPv4.
package struct NetworkAddress: Hashable, Sendable {
    /// Four or sixteen, in network byte order.
    package let bytes: [UInt8]
    /// The index of the link that a link-local IPv6 address belongs to; 0 where it does not matter.
    package let link: UInt32

    /// Nil unless there are four or sixteen bytes.
    package init?(_ bytes: some Collection<UInt8>, link: UInt32 = 0) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        let isMapped = bytes.count == 16 && bytes.starts(with: mapped)
        self.bytes = Array(bytes.dropFirst(isMapped ? 12 : 0))
        self.link = NetworkAddress.isLinkLocal(self.bytes) ? link : 0
    }

    package var isIPv6: Bool { bytes.count == 16 }

    /// 127.0.0.0/8 or ::1.
    package var isLoopback: Bool {
        isIPv6 ? bytes.last == 1 && bytes.dropLast().allSatisfy { $0 == 0 } : bytes.first == 127
    }

    /// fe80::/10, which every IPv6 link has by itself, wherever it leads to.
    package var isLinkLocal: Bool { NetworkAddress.isLinkLocal(bytes) }

    private static func isLinkLocal(_ bytes: [UInt8]) -> Bool {
        bytes.count == 16 && bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }
}
