internal import BridgeCore
internal import BridgeIO

extension Bridge {
    /// Begins to watch the network if a connection of the configuration wants that.
    ///
    /// Where it cannot be watched, everything counts as reachable.
    func watchNetwork() {
        let isWanted = configuration.connections.values.contains { $0.settings.network == .auto }
        guard networkWatch == nil, isWanted else { return }
        do throws(NetworkFailure) {
            let watcher = try NetworkWatcher(loop: loop)
            watcher.onChange = { [unowned self] gained in networkChanged(gained: gained) }
            networkWatch = .success(watcher)
        } catch {
            networkWatch = .failure(error)
            log.warning(
                "the network cannot be watched: every upstream counts as reachable",
                ["error": .text(error.error)]
            )
        }
        for connection in connections.values { connection.upstream.network = network }
    }

    var network: NetworkWatcher? { try? networkWatch?.get() }

    private func networkChanged(gained: Bool) {
        for connection in Array(connections.values) + Array(leaving.values) {
            connection.upstream.networkChanged(gained: gained)
        }
    }
}
