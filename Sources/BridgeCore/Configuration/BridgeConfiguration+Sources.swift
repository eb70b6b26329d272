import WebSocketProtocol

extension BridgeConfiguration {
    /// Reads flags, then the environment, then the configuration file, over the defaults.
    ///
    /// `demo` has its own upstream, and no file. Throws all that is wrong, not only the first.
    init(
        _ arguments: CommandArguments,
        _ environment: [String: String],
        _ files: ConfigurationFiles,
        for command: Command
    ) throws(StartError) {
        self.init()
        var reader = SettingReader(arguments, environment, for: command)
        var file: ConfigurationFile?
        if command == .demo {
            reader.refuseFlag(.upstream, "demo has an upstream of its own; `wsbridge serve` takes this flag")
            reader.refuseFlag(.config, "demo has no configuration file; `wsbridge serve` takes this flag")
        } else {
            var upstream: WebSocketURL?
            reader.read(.upstream, WebSocketURL.init(setting:)) { upstream = $0 }
            let path = reader.configurationFile
            file = path.map { ConfigurationFile(path: $0, environment: environment, files: files) }
            take(file, upstream: upstream, &reader)
            takeProxies(EnvironmentProxies(environment), &reader)
        }
        reader.read(.logLevel, LogLevel.init(text:)) { log.level = $0 }
        reader.read(.logFormat, LogFormat.init(text:)) { log.format = $0 }
        reader.read(.listen, ListenAddress.init(text:)) { http.listen = $0 }
        reader.read(.publicDirectory, PublicDirectory.init(text:)) { http.publicDirectory = $0 }
        reader.read(.dataDirectory, StorageSettings.path) { storage.directory = $0 }
        reader.read(.streamMode, StreamMode.init(text:)) { streamMode = $0 }
        readAccess(&reader, file)
        if command == .serve, let address = files.passedAddress { http.listen = address }
        requireToken(&reader, file, isPassed: command == .serve && files.passedAddress != nil)
        requirePage(&reader, file, files)
        guard reader.complaints.isEmpty else { throw StartError(reader.complaints) }
    }

    /// Reads what `wsbridge serve` reads; throws all that is wrong.
    package init(
        arguments: some Collection<String>,
        environment: [String: String],
        files: ConfigurationFiles
    ) throws(StartError) {
        try self.init(CommandArguments(arguments), environment, files, for: .serve)
    }

    private mutating func readAccess(_ reader: inout SettingReader, _ file: ConfigurationFile?) {
        let name = AccessToken.environmentName
        if reader.isGiven(.token), http.tokens.contains(where: { $0.name == name }),
            var complaint = file?.place(of: "http.tokens")
        {
            complaint.text +=
                "the token of \(Setting.token.variable) is called `\(name)`; choose another name"
            reader.complain([complaint])
        }
        reader.read(.token, Secret.init(bearerToken:)) {
            http.tokens.append(AccessToken(name: name, secret: $0))
        }
        reader.read(.allowAnonymous, Bool.init(text:)) { http.allowAnonymous = $0 }
        reader.read(.allowedHosts, HTTPSettings.hosts) { http.allowedHosts = $0 }
        reader.read(.allowedOrigins, HTTPSettings.origins) { http.allowedOrigins = $0 }
    }

    /// A proxy of the environment that is wrong is told unless no connection asks for it: going without would be wrong.
    private mutating func takeProxies(_ proxies: EnvironmentProxies, _ reader: inout SettingReader) {
        self.proxies = proxies
        let asks = connections.values.contains { $0.upstream.proxy == .environment }
        guard asks || connections.isEmpty || http.dynamicConnections else { return }
        reader.complain(proxies.complaints)
    }

    /// Takes what the file says, and the upstream that was named beside it as the URL of `default`.
    private mutating func take(
        _ file: ConfigurationFile?,
        upstream: WebSocketURL?,
        _ reader: inout SettingReader
    ) {
        var draft = file?.draft ?? ConfigurationDraft()
        if let upstream {
            draft.connections["default", default: ConnectionDraft()].source = .listed([upstream])
        }
        http = draft.http
        memory = draft.memory
        storage = draft.storage
        history = draft.history
        connections = draft.connections.compactMapValues(\.finished)
        presets = draft.connections.compactMapValues(\.preset)
        var file = file
        file?.requireURLs(in: draft.connections)
        reader.complain(file?.complaintsByLine ?? [])
        let isTold = file?.tellsOfConnections ?? false
        guard draft.connections.isEmpty, !isTold, !reader.isGiven(.upstream) else { return }
        // Clients bring their own.
        guard !http.dynamicConnections else { return }
        reader.complain(
            file?.path,
            "no upstream: \(file == nil ? "" : "name one under `connections`, or ")give --upstream "
                + "wss://example.org/feed, or set WSBRIDGE_UPSTREAM",
            .configuration
        )
    }

    /// A bridge that other machines reach and that asks for no token must have been wanted.
    ///
    /// Says nothing where a token, or the permission, was given that is itself wrong.
    private func requireToken(
        _ reader: inout SettingReader,
        _ file: ConfigurationFile?,
        isPassed: Bool
    ) {
        let isTold = reader.isWrong(.token) || reader.isWrong(.allowAnonymous) || file?.tellsOfAccess == true
        guard http.isOpenUnasked, !isTold else { return }
        let text =
            "\(http.listen.text) can be reached from other machines and no token is set: set WSBRIDGE_TOKEN to "
            + "a secret that clients must present, or WSBRIDGE_ALLOW_ANONYMOUS=true to let everyone in"
        guard !isPassed else {
            return reader.complain("the socket that was passed", text, .configuration)
        }
        guard var complaint = file?.place(of: "http.listen"), !reader.isGiven(.listen) else {
            return reader.complain(reader.place(of: .listen), text, .configuration)
        }
        complaint.text += text + " (`http.tokens` and `http.allowAnonymous` in the file do the same)"
        reader.complain([complaint])
    }

    /// What `serve` does not find, `check` has to miss as well.
    private func requirePage(
        _ reader: inout SettingReader,
        _ file: ConfigurationFile?,
        _ files: ConfigurationFiles
    ) {
        do throws(ConfigurationFiles.Unreadable) {
            try files.findPage(http.publicDirectory)
        } catch {
            guard var complaint = file?.place(of: "http.publicDirectory"), !reader.isGiven(.publicDirectory)
            else { return reader.complain(reader.place(of: .publicDirectory), error.reason, .unreadableFile) }
            complaint.text += error.reason
            complaint.exitCode = .unreadableFile
            reader.complain([complaint])
        }
    }
}
