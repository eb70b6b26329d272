extension HTTPSettings {
    /// The section `http`.
    static let fields: [Field<HTTPSettings>] = [
        Field("listen", \.listen, .listenAddress),
        Field("socketMode", \.socketMode, .socketMode),
        pageField,
        Field("tokens", \.tokens, AccessToken.list, keys: AccessToken.fields.schema()),
        Field("allowAnonymous", \.allowAnonymous, .flag),
        Field("allowedOrigins", \.allowedOrigins, .list(.origin)),
        Field("allowedHosts", \.allowedHosts, .list(.host)),
        Field("tls", \.tls, .optional(ServerTLSSettings.form), keys: ServerTLSSettings.fields.schema()),
        Field("maxBodyBytes", \.maxBodyBytes, .size(1...1 << 30)),
        Field("maxSubscribers", \.maxSubscribers, .number(0...1_000_000)),
        Field("maxFilters", \.maxFilters, .number(1...1_000_000)),
        Field("maxConnectionsPerClient", \.maxConnectionsPerClient, .number(0...1_000_000)),
        Field("keepAlive", \.keepAlive, .duration(.milliseconds(100) ... .seconds(86_400))),
        Field("retry", \.retry, .duration(.zero ... .seconds(86_400))),
        Field("requestTimeout", \.requestTimeout, .duration(.milliseconds(100) ... .seconds(86_400))),
        Field("shutdownTimeout", \.shutdownTimeout, .duration(.zero ... .seconds(3600))),
        Field("sessionLifetime", \.sessionLifetime, .duration(.seconds(1) ... .seconds(31_536_000))),
        Field("dynamicConnections", \.dynamicConnections, .flag),
    ]

    /// Counts from the folder of the file, even where the file leaves it at its default.
    private static let pageField = Field<HTTPSettings>(
        key: "publicDirectory",
        keys: [],
        isAvailable: true,
        read: { node, section, reader in
            if let node, let directory = Form.publicDirectory.read(node, &reader) {
                section.publicDirectory = directory
            }
            section.publicDirectory.base = reader.folder
        },
        write: { Form.publicDirectory.write($0.publicDirectory) }
    )
}

extension ServerTLSSettings {
    /// The section `http.tls`.
    static let fields: [Field<ServerTLSSettings>] = [
        Field("certificate", \.certificateFile, .file),
        Field("key", \.keyFile, .optional(.file)),
        Field("keyPassword", \.keyPassword, .optional(.password)),
    ]

    /// The section, after a look at its files.
    static let form = Form<ServerTLSSettings>(
        read: { node, reader in
            guard let settings = plainForm.read(node, &reader) else { return nil }
            guard !settings.certificateFile.isEmpty else { return settings }
            for fault in reader.faults(of: settings.files) where !reader.isBroken(fault.setting.rawValue) {
                reader.inside(fault.setting.rawValue) { reader in
                    reader.complain(reader.position ?? node.position, fault.text)
                }
            }
            return settings
        },
        write: plainForm.write
    )

    private static let plainForm = fields.form(startingFrom: ServerTLSSettings(), needed: ["certificate"])
}

extension AccessToken {
    /// A token while it is read.
    struct Draft: Sendable {
        var name: String?
        var secret: Secret?
        var scopes = Set(AccessScope.allCases)
        var connections = [NamePattern("*")]
    }

    static let fields: [Field<Draft>] = [
        Field("name", \.name, .required(.tokenName)),
        Field("token", \.secret, .required(.token)),
        Field("allow", \.scopes, .scopes),
        Field("connections", \.connections, .namePatterns),
    ]

    /// Tokens that can be told apart, by people and by what clients present.
    static let list = Form<[Draft]>
        .list(fields.form(startingFrom: Draft(), needed: ["name", "token"]), identities: \.identities)
        .mapped({ drafts in drafts.compactMap(\.finished) }, back: { tokens in tokens.map(Draft.init) })
}

extension AccessToken.Draft {
    fileprivate init(_ token: AccessToken) {
        name = token.name
        secret = token.secret
        scopes = token.scopes
        connections = token.connections
    }

    /// Nil where something is missing, or wrong.
    fileprivate var finished: AccessToken? {
        guard let name, let secret else { return nil }
        return AccessToken(name: name, secret: secret, scopes: scopes, connections: connections)
    }

    fileprivate var identities: [(key: String, name: String)] {
        [
            name.map { (key: "name \($0)", name: "the name `\($0)` ") },
            secret.map { (key: "token \($0.revealed)", name: "the same token ") },
        ].compactMap(\.self)
    }
}

extension Form<Set<AccessScope>> {
    static let scopes = Form<[AccessScope]>.list(.word())
        .checked { $0.isEmpty ? "a token that allows nothing is of no use" : nil }
        .mapped({ Set($0) }, back: { scopes in AccessScope.allCases.filter(scopes.contains) })
}

extension Form<[NamePattern]> {
    static let namePatterns = list(.namePattern)
        .checked { $0.isEmpty ? "a token without connections is of no use" : nil }
}

extension HistoryLimits {
    /// The section `history`.
    static let fields: [Field<HistoryLimits>] = [
        Field("maxMessages", \.maxMessages, .number(0...1_000_000_000)),
        Field("maxBytes", \.maxBytes, .size(0...1 << 40)),
        Field("maxAge", \.maxAge, .optional(.duration(.milliseconds(1) ... .longestWritten))),
        Field("includeSent", \.includeSent, .flag),
    ]
}

extension StorageSettings {
    /// The section `storage`.
    static let fields: [Field<StorageSettings>] = [
        Field("directory", \.directory, .optional(.folder))
    ]
}

extension MemorySettings {
    /// The section `memory`.
    static let fields: [Field<MemorySettings>] = [
        Field("maxBytes", \.maxBytes, .optional(.size(MemoryBound.least...1 << 40)))
    ]
}
