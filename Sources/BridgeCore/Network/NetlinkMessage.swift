/// One message of the kernel about links, addresses and routes, as far as it matters here (RFC 3549 §3).
package enum NetlinkMessage: Equatable, Sendable {
    /// A link is there, and this is how it is.
    case link(NetworkLink)
    /// An address is there.
    case address(LinkAddress)
    /// The route that was asked for.
    case route(RouteAnswer)
    /// The request was refused with this `errno`; 0 acknowledges it.
    case refused(errno: Int32)
    /// The list that was asked for ends here.
    case done
    /// Nothing that is of use.
    case other
}

/// A link as the kernel lists it.
package struct NetworkLink: Hashable, Sendable {
    package var index: UInt32
    /// Those of `netdevice(7)`.
    package var flags: UInt32

    package init(index: UInt32, flags: UInt32) {
        self.index = index
        self.flags = flags
    }

    package static let up: UInt32 = 1 << 0
    package static let loopback: UInt32 = 1 << 3
    package static let running: UInt32 = 1 << 6

    package var isLoopback: Bool { flags & NetworkLink.loopback != 0 }

    /// It is switched on, and there is a carrier: the cable is plugged in, so to speak.
    package var carries: Bool {
        let wanted = NetworkLink.up | NetworkLink.running
        return flags & wanted == wanted
    }
}

/// An address of this machine, and the link that has it.
package struct LinkAddress: Hashable, Sendable {
    package var address: NetworkAddress
    package var link: UInt32

    package init(_ address: NetworkAddress, link: UInt32) {
        self.address = address
        self.link = link
    }
}

/// What the kernel answers when it is asked for the way to an address.
package enum RouteAnswer: Hashable, Sendable {
    /// Packets leave through this link; 0 if the kernel does not name one.
    case link(UInt32)
    /// The address is one of this machine.
    case local
    /// There is no way, or one that leads nowhere.
    case none
    /// It cannot be told.
    case unknown
}
