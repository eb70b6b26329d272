/// What can be seen of the ways out of this machine, now.
///
/// Called on the loop.
package protocol NetworkView: AnyObject {
    /// Links and addresses as they were after the last change.
    var map: NetworkMap { get }

    /// Asks the kernel for the way to an address, for packets from `source` if there is one.
    func route(to destination: NetworkAddress, from source: NetworkAddress?) -> RouteAnswer
}

extension NetworkView {
    /// There is a way to the address; true as well if that cannot be told.
    func reaches(_ address: NetworkAddress, from source: NetworkAddress? = nil) -> Bool {
        if address.isLoopback { return true }
        return switch route(to: address, from: source) {
        // The kernel goes on routing into a link whose cable is pulled.
        case .link(let link): map.carries(link) ?? true
        case .local, .unknown: true
        case .none: false
        }
    }

    /// What goes nowhere in particular has a way out.
    ///
    /// Asked for with addresses that no network has (RFC 5737, RFC 3849), so that no other route can be meant.
    var hasDefaultRoute: Bool {
        let documentation: [[UInt8]] = [
            [192, 0, 2, 1], [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1],
        ]
        return documentation.contains { bytes in NetworkAddress(bytes).map { reaches($0) } ?? true }
    }

    /// What is sent on the path arrives as far as this machine can tell, and so does what comes back.
    func carries(_ path: SocketPath) -> Bool {
        if path.peer.isLoopback { return true }
        switch route(to: path.peer, from: path.local) {
        case .none: return false
        // Between two addresses of one machine no link is needed.
        case .local: return true
        case .link(let link):
            guard map.carries(link) ?? true else { return false }
        case .unknown: break
        }
        // An address that no link has may still be the machine's, by a route of the type `local`.
        return map.carries(path.local) ?? isOwn(path.local)
    }

    private func isOwn(_ address: NetworkAddress) -> Bool {
        switch route(to: address, from: nil) {
        case .local, .unknown: true
        case .link, .none: false
        }
    }
}

/// The two ends of a connected socket.
package struct SocketPath: Equatable, Sendable {
    package var local: NetworkAddress
    package var peer: NetworkAddress

    package init(local: NetworkAddress, peer: NetworkAddress) {
        self.local = local
        self.peer = peer
    }
}
