/// The hosts that a connection's sockets may be dialled to, proxies where there are any: what is known of their
/// addresses, and what that says of the network.
///
/// Whatever is in doubt counts as reachable, and of several hosts one suffices: then dialling decides.
package struct Reachability: Equatable, Sendable {
    private enum Host: Equatable, Sendable {
        /// A unix socket or a loopback address.
        case here
        case address(NetworkAddress)
        case name(Lookup)
    }

    /// What lookups of a name have brought.
    private struct Lookup: Equatable, Sendable {
        /// Those of the last one that succeeded.
        var addresses: [NetworkAddress] = []
        /// There was no lookup yet where the machine is now, so that another one may well succeed.
        var isDue = true
    }

    private enum Line: Equatable, Sendable {
        /// No socket is open.
        case none
        /// One is open, and when it opened its path could be seen.
        case seen(SocketPath)
        /// One is open against all appearances: what the kernel says does not apply to it.
        case unseen
    }

    /// At least one.
    private var hosts: [Host]
    private var line = Line.none

    /// A unix socket.
    package static let here = Reachability(hosts: [.here])

    private init(hosts: [Host]) {
        self.hosts = hosts
    }

    package init(_ address: NetworkAddress) {
        hosts = [address.isLoopback ? .here : .address(address)]
    }

    package init(name: String) {
        let name = name.lowercased()
        hosts = [name == "localhost" || name.hasSuffix(".localhost") ? .here : .name(Lookup())]
    }

    /// Those of several URLs, in their order.
    package init(of several: [Reachability]) {
        hosts = several.flatMap(\.hosts)
    }
}

extension Reachability {
    /// Others are dialled next; what is known of the socket that is open stays.
    package mutating func turn(to others: Reachability) {
        hosts = others.hosts
    }

    /// An attempt has found these addresses of the host with this number, or none.
    package mutating func lookedUp(_ addresses: [NetworkAddress], of number: Int = 0) {
        guard hosts.indices.contains(number), case .name(var lookup) = hosts[number] else { return }
        if !addresses.isEmpty { lookup.addresses = addresses }
        lookup.isDue = false
        hosts[number] = .name(lookup)
    }

    /// Who is dialled next is not known any more, and that attempt failed: it needs a network, unless it was here.
    package mutating func becameUnknown() {
        let failed = Host.name(Lookup(addresses: [], isDue: false))
        hosts = hosts.map { $0 == .here ? .here : failed }
    }

    /// A socket is open; returns what that says of the network.
    package mutating func opened(
        _ path: SocketPath?,
        over network: some NetworkView
    ) -> ConnectionMachine.Event {
        line = path.map { network.carries($0) ? .seen($0) : .unseen } ?? .unseen
        return .networkRestored
    }

    /// The socket is gone.
    package mutating func closed() {
        line = .none
    }

    /// The machine has come by an address: where it is now, a name may have other addresses.
    package mutating func networkGained() {
        for number in hosts.indices {
            guard case .name(var lookup) = hosts[number] else { continue }
            lookup.isDue = true
            hosts[number] = .name(lookup)
        }
    }

    /// What is to be told the machine of the connection, whose network has perhaps changed.
    ///
    /// It may be told the same again. An open socket whose path is gone is lost, even if the next one finds another.
    package func news(over network: some NetworkView) -> [ConnectionMachine.Event] {
        switch line {
        case .seen(let path) where network.carries(path): [.networkRestored]
        case .seen: isReachable(over: network) ? [.networkLost, .networkRestored] : [.networkLost]
        case .unseen: []
        case .none: [isReachable(over: network) ? .networkRestored : .networkLost]
        }
    }

    private func isReachable(over network: some NetworkView) -> Bool {
        hosts.contains { Reachability.isReachable($0, over: network) }
    }

    private static func isReachable(_ host: Host, over network: some NetworkView) -> Bool {
        switch host {
        case .here: true
        case .address(let address): network.reaches(address)
        case .name(let lookup) where lookup.isDue: true
        case .name(let lookup) where lookup.addresses.isEmpty:
            // A resolver or a proxy on this machine needs no network; but this lookup failed.
            network.map.hasNetwork
        case .name(let lookup):
            // By a default route of the other family it may be found elsewhere.
            lookup.addresses.contains { network.reaches($0) } || network.hasDefaultRoute
        }
    }
}
