/// What is different between the configuration in use and one that is to replace it, and what can be done.
package struct ConfigurationChange: Equatable, Sendable {
    /// Connections that are new, by name and in order, as are the others.
    package private(set) var added: [String]
    /// Connections that are to end.
    package private(set) var removed: [String]
    /// Connections that are to begin anew with other settings.
    package private(set) var replaced: [String]
    /// Keys of further settings that apply from now on.
    package private(set) var settings: [String]
    /// Keys of settings that stay as they are until the bridge is started again.
    package private(set) var awaitingRestart: [String]
    /// Connections that stay and whose next dial finds other certificates in the files that they name.
    package var renewed: [String] = []
    /// What is in use once the change is carried out.
    package private(set) var result: BridgeConfiguration

    /// `subscribers` is how many the running server has room for.
    package init(from old: BridgeConfiguration, to new: BridgeConfiguration, roomFor subscribers: Int) {
        added = new.connections.keys.filter { old.connections[$0] == nil }.sorted()
        removed = old.connections.keys.filter { new.connections[$0] == nil }.sorted()
        replaced =
            new.connections.filter { name, connection in
                old.connections[name].map { $0 != connection } ?? false
            }
            .keys.sorted()
        settings = []
        awaitingRestart = []
        result = new
        for setting in ConfigurationChange.httpSettings {
            guard setting.differs(old.http, new.http) else { continue }
            if setting.awaitsRestart(old.http, new.http, subscribers) {
                awaitingRestart.append("http." + setting.key)
                setting.keep(old.http, &result.http)
            } else {
                settings.append("http." + setting.key)
            }
        }
        if result.http.isOpenUnasked, !old.http.tokens.isEmpty {
            // A file that takes the bridge off the network may do without tokens, but it is there until the restart.
            settings.removeAll { $0 == "http.tokens" }
            awaitingRestart.append("http.tokens")
            result.http.tokens = old.http.tokens
        }
        if old.storage != new.storage {
            // What is in use is in one place.
            awaitingRestart.append("storage.directory")
            result.storage = old.storage
        }
        if old.memory != new.memory { settings.append("memory") }
        if old.history != new.history { settings.append("history") }
        // Given outside of the file, so a running bridge cannot be told otherwise.
        result.log = old.log
    }

    /// The files of `http.tls` hold something else, though their names may be the same.
    package mutating func noteRenewedCertificate() {
        if !settings.contains("http.tls") { settings.append("http.tls") }
    }

    /// There is nothing to do, and nothing waits for a restart.
    package var isEmpty: Bool {
        [added, removed, replaced, renewed, settings, awaitingRestart].allSatisfy(\.isEmpty)
    }

    // MARK: Settings

    private struct HTTPSetting {
        let key: String
        let differs: (HTTPSettings, HTTPSettings) -> Bool
        let keep: (HTTPSettings, inout HTTPSettings) -> Void
        let awaitsRestart: (HTTPSettings, HTTPSettings, _ room: Int) -> Bool

        init<Value: Equatable>(
            _ key: String,
            _ path: WritableKeyPath<HTTPSettings, Value>,
            awaitsRestart: @escaping (_ old: Value, _ new: Value, _ room: Int) -> Bool = { _, _, _ in false }
        ) {
            self.key = key
            differs = { $0[keyPath: path] != $1[keyPath: path] }
            keep = { $1[keyPath: path] = $0[keyPath: path] }
            self.awaitsRestart = { awaitsRestart($0[keyPath: path], $1[keyPath: path], $2) }
        }
    }

    /// All of them.
    ///
    /// What the listening socket and the HTTP daemon were made with cannot be changed.
    private static var httpSettings: [HTTPSetting] {
        [
            HTTPSetting("listen", \.listen) { _, _, _ in true },
            HTTPSetting("socketMode", \.socketMode) { _, _, _ in true },
            HTTPSetting("publicDirectory", \.publicDirectory) { _, _, _ in true },
            HTTPSetting("tokens", \.tokens),
            HTTPSetting("allowAnonymous", \.allowAnonymous),
            HTTPSetting("allowedOrigins", \.allowedOrigins),
            HTTPSetting("allowedHosts", \.allowedHosts),
            HTTPSetting("tls", \.tls) { old, new, _ in (old == nil) != (new == nil) },
            HTTPSetting("maxBodyBytes", \.maxBodyBytes),
            HTTPSetting("maxSubscribers", \.maxSubscribers) { _, new, room in new > room },
            HTTPSetting("maxFilters", \.maxFilters),
            HTTPSetting("maxConnectionsPerClient", \.maxConnectionsPerClient) { _, _, _ in true },
            HTTPSetting("keepAlive", \.keepAlive),
            HTTPSetting("retry", \.retry),
            HTTPSetting("requestTimeout", \.requestTimeout),
            HTTPSetting("shutdownTimeout", \.shutdownTimeout),
            HTTPSetting("sessionLifetime", \.sessionLifetime),
            HTTPSetting("dynamicConnections", \.dynamicConnections),
        ]
    }

    /// The keys of the section `http` that are compared.
    package static var httpKeys: [String] { httpSettings.map(\.key) }
}
