internal import BridgeCore
internal import BridgeIO

extension Bridge {
    /// Watches the network while a connection of the configuration wants that.
    ///
    /// Where it cannot be watched, everything counts as reachable.
    func watchNetwork() {
        let isWanted = configuration.connections.values.contains { $0.settings.network == .auto }
        guard isWanted != (networkWatch != nil) else { return }
        guard isWanted else {
            // It ends when the last connection has let go of it as well.
            networkWatch = nil
            for connection in connections.values { connection.upstream.network = nil }
            return
        }
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
        for connection in allConnections {
            connection.upstream.networkChanged(gained: gained)
        }
    }
}
