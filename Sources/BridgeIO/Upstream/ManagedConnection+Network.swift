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
        noteAddresses(of: line)
        guard let network else { return }
        tell(reachability.opened(line.socket.path, over: network))
    }

    func lineEnded(_ line: Line) {
        schedule.lost(line.id, now: surroundings.loop.now)
        loseRequests(on: line.id)
        reachability.closed()
        noteAddresses(of: line)
        if isAsking { reachability.becameUnknown() }
    }

    /// Who knows the URL was asked in vain.
    func questionEnded() {
        reachability.lookedUp([])
        lookAtNetwork()
    }

    private func noteAddresses(of line: Line) {
        // Without a list it is always the first one; one that a message named is none of them.
        guard let number = line.urlIndex else { return }
        reachability.lookedUp(line.socket.addresses.compactMap(\.networkAddress), of: number)
    }

    private var isAsking: Bool {
        switch route.source {
        case .listed: false
        case .asked: true
        }
    }
}
