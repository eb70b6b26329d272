/// The links of this machine and their addresses, at one moment.
///
/// Routes are not in it: there may be hundreds of thousands, and rules decide which of them count. For those the
/// kernel is asked (`NetworkView`).
package struct NetworkMap: Equatable, Sendable {
    private var links: [UInt32: NetworkLink] = [:]
    private var addresses: Set<LinkAddress> = []

    package init() {}

    /// Adds what the kernel lists; other messages mean nothing here.
    package mutating func add(_ message: NetlinkMessage) {
        switch message {
        case .link(let link): links[link.index] = link
        case .address(let address): addresses.insert(address)
        case .route, .refused, .done, .other: break
        }
    }

    /// Whether packets can leave through the link; nil for one that is not known.
    package func carries(_ link: UInt32) -> Bool? { links[link]?.carries }

    /// Whether packets can come to this address over a link that has it; nil if none has.
    package func carries(_ address: NetworkAddress) -> Bool? {
        let holders = addresses.filter { $0.address == address }
        return holders.isEmpty ? nil : holders.contains { carries($0.link) ?? true }
    }

    /// There is more than loopback: a link that carries, with an address that it did not give itself.
    package var hasNetwork: Bool { !reachableAddresses.isEmpty }

    /// There is an address to be reached at that `old` did not have: the machine may be in another place.
    package func gains(over old: NetworkMap) -> Bool {
        !reachableAddresses.isSubset(of: old.reachableAddresses)
    }

    private var reachableAddresses: Set<LinkAddress> {
        addresses.filter { holder in
            guard let link = links[holder.link], !holder.address.isLinkLocal else { return false }
            return link.carries && !link.isLoopback
        }
    }
}
