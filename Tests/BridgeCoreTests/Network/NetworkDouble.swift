import BridgeCore

/// A machine's network, made up.
final class NetworkDouble: NetworkView {
    var map = NetworkMap()
    /// Ways by destination; everything else has none.
    var routes: [NetworkAddress: RouteAnswer] = [:]
    /// Ways for packets from an address, where rules make them differ.
    var routesFrom: [NetworkAddress: RouteAnswer] = [:]

    init(_ messages: NetlinkMessage...) {
        for message in messages { map.add(message) }
    }

    func route(to destination: NetworkAddress, from source: NetworkAddress?) -> RouteAnswer {
        if let source, let answer = routesFrom[source] { return answer }
        return routes[destination] ?? .none
    }

    /// A machine at home: link 2 carries, has an address, and leads everywhere.
    static func home() -> NetworkDouble {
        let double = NetworkDouble(.loopback, .link(2, carries: true), .address(.own, on: 2))
        for address in [NetworkAddress.peer, .anywhere, .anywhere6] { double.routes[address] = .link(2) }
        return double
    }
}

extension NetworkAddress {
    static let own = ip4(10, 0, 0, 1)
    static let peer = ip4(10, 0, 0, 2)
    static let other = ip4(10, 0, 0, 3)
    /// What only a default route leads to.
    static let anywhere = ip4(192, 0, 2, 1)
    static let anywhere6 = ip6(0x20, 0x01, 0x0D, 0xB8)

    static func ip4(_ bytes: UInt8...) -> NetworkAddress { make(bytes) }

    /// The first bytes, then zeros, then 1.
    static func ip6(_ bytes: UInt8..., link: UInt32 = 0) -> NetworkAddress {
        make(bytes + [UInt8](repeating: 0, count: 15 - bytes.count) + [1], link: link)
    }

    private static func make(_ bytes: [UInt8], link: UInt32 = 0) -> NetworkAddress {
        guard let address = NetworkAddress(bytes, link: link) else { preconditionFailure("\(bytes)") }
        return address
    }
}

extension NetlinkMessage {
    static let loopback = NetlinkMessage.link(NetworkLink(index: 1, flags: 0x49))

    static func link(_ index: UInt32, carries: Bool) -> NetlinkMessage {
        .link(NetworkLink(index: index, flags: NetworkLink.up | (carries ? NetworkLink.running : 0)))
    }

    static func address(_ address: NetworkAddress, on link: UInt32) -> NetlinkMessage {
        .address(LinkAddress(address, link: link))
    }
}
