import WebSocketProtocol

extension BridgeConfiguration {
    /// Reads flags, then the environment, over the defaults.
    ///
    /// `bringsUpstream` says that the command has its own. Throws all that is wrong, not only the first.
    init(
        _ arguments: CommandArguments,
        _ environment: [String: String],
        bringsUpstream: Bool
    ) throws(StartError) {
        self.init()
        var reader = SettingReader(arguments, environment)
        reader.read(.logLevel, LogLevel.init(text:)) { log.level = $0 }
        reader.read(.logFormat, LogFormat.init(text:)) { log.format = $0 }
        reader.read(.listen, ListenAddress.init(text:)) { http.listen = $0 }
        reader.read(.publicDirectory, PublicDirectory.init(text:)) { http.publicDirectory = $0 }
        readAccess(&reader)
        readUpstream(&reader, bringsUpstream: bringsUpstream)
        requireToken(&reader)
        guard reader.complaints.isEmpty else { throw StartError(reader.complaints) }
    }

    private mutating func readAccess(_ reader: inout SettingReader) {
        reader.read(.token, Secret.init(bearerToken:)) {
            http.tokens = [AccessToken(name: "environment", secret: $0)]
        }
        reader.read(.allowAnonymous, Bool.init(text:)) { http.allowAnonymous = $0 }
        reader.read(.allowedHosts, HTTPSettings.hosts) { http.allowedHosts = $0 }
        reader.read(.allowedOrigins, HTTPSettings.origins) { http.allowedOrigins = $0 }
    }

    private mutating func readUpstream(_ reader: inout SettingReader, bringsUpstream: Bool) {
        guard !bringsUpstream else {
            return reader.refuseFlag(
                .upstream,
                "demo has an upstream of its own; `wsbridge serve` takes this flag"
            )
        }
        guard reader.isGiven(.upstream) else {
            return reader.complain(
                nil,
                "no upstream: give --upstream wss://example.org/feed, or set WSBRIDGE_UPSTREAM",
                .configuration
            )
        }
        reader.read(.upstream, WebSocketURL.init(setting:)) {
            connections = ["default": ConnectionConfiguration(url: $0)]
        }
    }

    /// A bridge that other machines reach and that asks for no token must have been wanted.
    ///
    /// Says nothing where a token was given that is itself wrong.
    private func requireToken(_ reader: inout SettingReader) {
        guard !http.listen.isLocal, !http.allowAnonymous, http.tokens.isEmpty, !reader.isGiven(.token) else {
            return
        }
        reader.complain(
            reader.place(of: .listen),
            "\(http.listen.text) can be reached from other machines and no token is set: set WSBRIDGE_TOKEN to "
                + "a secret that clients must present, or WSBRIDGE_ALLOW_ANONYMOUS=true to let everyone in",
            .configuration
        )
    }
}
