/// A question to the kernel, as bytes to be sent in one piece.
package enum NetlinkRequest: Equatable, Sendable {
    /// All links.
    case links
    /// All addresses of all links.
    case addresses
    /// The way to an address, for packets from `source` if there is one; no packet is sent.
    case route(to: NetworkAddress, from: NetworkAddress?)

    /// The request under a sequence number, which the answers bear too.
    package func bytes(sequence: UInt32) -> [UInt8] {
        let request: UInt16 = 0x001
        let dump: UInt16 = 0x300
        switch self {
        case .links:
            return message(NetlinkKind.getLink, request | dump, sequence, [UInt8](repeating: 0, count: 16))
        case .addresses:
            return message(NetlinkKind.getAddress, request | dump, sequence, [UInt8](repeating: 0, count: 8))
        case .route(let destination, let source):
            return message(NetlinkKind.getRoute, request, sequence, question(destination, source))
        }
    }

    /// struct rtmsg, and the addresses as attributes (RTA_DST, RTA_SRC, RTA_OIF).
    private func question(_ destination: NetworkAddress, _ source: NetworkAddress?) -> [UInt8] {
        let family: UInt8 = destination.isIPv6 ? 10 : 2
        var content: [UInt8] = [family, UInt8(destination.bytes.count * 8)]
        let source = source.flatMap { $0.isIPv6 == destination.isIPv6 ? $0 : nil }
        content += [UInt8((source?.bytes.count ?? 0) * 8)] + [UInt8](repeating: 0, count: 9)
        content += attribute(1, destination.bytes)
        if let source { content += attribute(2, source.bytes) }
        if destination.link != 0 { content += attribute(4, native(destination.link)) }
        return content
    }

    private func message(
        _ kind: UInt16,
        _ flags: UInt16,
        _ sequence: UInt32,
        _ content: [UInt8]
    ) -> [UInt8] {
        let length = UInt32(NetlinkReader.headerBytes + content.count)
        let head = native(length) + native(kind) + native(flags) + native(sequence)
        // The port of 0 stands for whatever the socket has.
        return head + native(0 as UInt32) + content
    }

    private func attribute(_ kind: UInt16, _ content: [UInt8]) -> [UInt8] {
        // Four and sixteen bytes need no padding.
        native(UInt16(4 + content.count)) + native(kind) + content
    }

    /// A number in the machine's own order.
    private func native(_ number: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
        let ordered = number.littleEndian
        return (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: ordered >> ($0 * 8)) }
    }
}
