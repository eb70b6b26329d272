/// Reads the kernel's messages from bytes; whatever they hold, it neither traps nor reads beyond them.
package struct NetlinkReader {
    private var bytes: NetlinkBytes

    /// `datagram` is what one read of the socket gave.
    package init(_ datagram: [UInt8]) {
        bytes = NetlinkBytes(datagram[...])
    }

    /// The next message with the sequence number of the request that it answers (0: news that nobody asked for); nil
    /// at the end, or where the rest is no message.
    package mutating func next() -> (sequence: UInt32, message: NetlinkMessage)? {
        // struct nlmsghdr: length (with the header), type, flags, sequence, port
        guard let length = bytes.word(at: 0), let kind = bytes.half(at: 4), let sequence = bytes.word(at: 8),
            let whole = bytes.takeFirst(Int(length), atLeast: NetlinkReader.headerBytes)
        else { return nil }
        return (sequence, NetlinkMessage(kind, whole.dropping(NetlinkReader.headerBytes)))
    }

    static let headerBytes = 16
}

/// Bytes of a netlink message; numbers in them have the machine's own order.
struct NetlinkBytes {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    var content: ArraySlice<UInt8> { bytes }

    func byte(at offset: Int) -> UInt8? {
        offset < bytes.count ? bytes[bytes.startIndex + offset] : nil
    }

    func half(at offset: Int) -> UInt16? {
        guard let low = byte(at: offset), let high = byte(at: offset + 1) else { return nil }
        return UInt16(littleEndian: UInt16(high) << 8 | UInt16(low))
    }

    func word(at offset: Int) -> UInt32? {
        guard offset + 4 <= bytes.count else { return nil }
        let start = bytes.startIndex + offset
        return UInt32(littleEndian: bytes[start..<start + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }

    func dropping(_ count: Int) -> NetlinkBytes { NetlinkBytes(bytes.dropFirst(count)) }

    /// Takes what is announced to be this long, and what fills it up to a multiple of four.
    mutating func takeFirst(_ length: Int, atLeast least: Int) -> NetlinkBytes? {
        guard length >= least, length <= bytes.count else { return nil }
        let taken = bytes.prefix(length)
        bytes = bytes.dropFirst(length + (4 - length % 4) % 4)
        return NetlinkBytes(taken)
    }

    /// The contents of the attributes of these types; of one that is there twice, the last one.
    func attributes() -> [UInt16: ArraySlice<UInt8>] {
        var rest = self
        var found: [UInt16: ArraySlice<UInt8>] = [:]
        // struct rtattr: length (with these four bytes), type; its top bits are flags
        while let length = rest.half(at: 0), let kind = rest.half(at: 2),
            let whole = rest.takeFirst(Int(length), atLeast: 4)
        {
            found[kind & 0x3FFF] = whole.content.dropFirst(4)
        }
        return found
    }
}

extension NetlinkMessage {
    fileprivate init(_ kind: UInt16, _ content: NetlinkBytes) {
        self =
            switch kind {
            case NetlinkKind.error: NetlinkMessage(error: content)
            case NetlinkKind.done: .done
            case NetlinkKind.newLink: NetlinkMessage(link: content)
            case NetlinkKind.newAddress: NetlinkMessage(address: content)
            case NetlinkKind.newRoute: NetlinkMessage(route: content)
            default: .other
            }
    }

    /// A `struct nlmsgerr`: the negative `errno`, then the request.
    private init(error content: NetlinkBytes) {
        guard let code = content.word(at: 0) else {
            self = .other
            return
        }
        self = .refused(errno: 0 &- Int32(bitPattern: code))
    }

    /// A `struct ifinfomsg`: family, padding, type (2), index (4), flags (4), change (4).
    private init(link content: NetlinkBytes) {
        guard let index = content.word(at: 4), let flags = content.word(at: 8) else {
            self = .other
            return
        }
        self = .link(NetworkLink(index: index, flags: flags))
    }

    /// A `struct ifaddrmsg`: family, prefix length, flags, scope, index (4).
    private init(address content: NetlinkBytes) {
        self = .other
        guard let flags = content.byte(at: 2), let link = content.word(at: 4) else { return }
        let (optimistic, failed, tentative): (UInt8, UInt8, UInt8) = (0x04, 0x08, 0x40)
        // Nothing can be sent from an address that others may turn out to have.
        guard flags & failed == 0, flags & tentative == 0 || flags & optimistic != 0 else { return }
        let (ofPeer, ofLink): (UInt16, UInt16) = (1, 2)
        let attributes = content.dropping(8).attributes()
        // On a link from point to point IFA_ADDRESS is the other end.
        guard let bytes = attributes[ofLink] ?? attributes[ofPeer],
            let address = NetworkAddress(bytes, link: link)
        else { return }
        self = .address(LinkAddress(address, link: link))
    }

    /// A `struct rtmsg`: family, lengths (2), tos, table, protocol, scope, type, flags (4).
    private init(route content: NetlinkBytes) {
        guard let type = content.byte(at: 7) else {
            self = .other
            return
        }
        let outgoingLink: UInt16 = 4
        let link = content.dropping(12).attributes()[outgoingLink].flatMap { NetlinkBytes($0).word(at: 0) }
        self =
            switch type {
            case 2: .route(.local)
            // Unicast, broadcast, anycast, multicast.
            case 1, 3, 4, 5: .route(.link(link ?? 0))
            // Blackhole, unreachable, prohibit, throw.
            case 6, 7, 8, 9: .route(.none)
            default: .route(.unknown)
            }
    }
}

/// The types of messages, from linux/netlink.h and linux/rtnetlink.h.
enum NetlinkKind {
    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let newLink: UInt16 = 16
    static let getLink: UInt16 = 18
    static let newAddress: UInt16 = 20
    static let getAddress: UInt16 = 22
    static let newRoute: UInt16 = 24
    static let getRoute: UInt16 = 26
}
