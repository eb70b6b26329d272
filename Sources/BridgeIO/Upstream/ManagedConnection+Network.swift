internal import BridgeCore

extension ManagedConnection {
    /// Links, addresses or routes of this machine have changed; `gained`: it has come by an address.
    package func networkChanged(gained: Bool) {
        if gained { reachability.networkGained() }
        lookAtNetwork()
    }

    /// Tells the machine whether there is a way to the upstream.
    func lookAtNetwork() {
        guard let network, machine.network != .ignored else { return }
        for event in reachability.news(over: network) { tell(event) }
    }

    func lineOpened(_ line: Line) {
        reachability.lookedUp(line.socket.addresses.compactMap(\.networkAddress))
        guard let network else { return }
        tell(reachability.opened(line.socket.path, over: network))
    }

    func lineEnded(_ line: Line) {
        reachability.closed()
        reachability.lookedUp(line.socket.addresses.compactMap(\.networkAddress))
    }
}
