package import BridgeCore
internal import WebSocketProtocol

extension ManagedConnection {
    /// All that the connection knows of itself now.
    package var status: ConnectionStatus {
        ConnectionStatus(
            name: name,
            url: url?.redacted,
            machine: machine,
            tls: security,
            outbox: outbox,
            tally: tally,
            now: surroundings.loop.now,
            wall: surroundings.wallClock()
        )
    }

    /// How long until the connection may be ready, as far as that is known.
    package var nextAttemptIn: Duration? {
        guard let next = machine.nextAttemptAt else { return nil }
        return next - surroundings.loop.now
    }

    private var security: ConnectionStatus.Security? {
        // A redirect may lead to TLS.
        guard let url = line?.socket.target.terms.url ?? url, url.isSecure else { return nil }
        return ConnectionStatus.Security(verified: route.tls.verifies, version: line?.socket.tlsVersion)
    }

    /// The files of TLS that it names hold something else than what was read; the next dial reads them.
    package var hasOutdatedFiles: Bool { credentials.isOutdated }
}
