extension HTTPSettings {
    /// The section `http`.
    static let fields: [Field<HTTPSettings>] = [
        Field("listen", \.listen, .listenAddress),
        pageField,
        Field("tokens", \.tokens, AccessToken.list, keys: AccessToken.fields.schema()),
        Field("allowAnonymous", \.allowAnonymous, .flag),
        Field("allowedOrigins", \.allowedOrigins, .list(.origin)),
        Field("allowedHosts", \.allowedHosts, .list(.host)),
        .later("tls", only: .null, keys: .later("certificate", "key")),
        Field("maxBodyBytes", \.maxBodyBytes, .size(1...1 << 30)),
        Field("maxSubscribers", \.maxSubscribers, .number(0...1_000_000)),
        Field("maxFilters", \.maxFilters, .number(1...1_000_000)),
        Field("maxConnectionsPerClient", \.maxConnectionsPerClient, .number(0...1_000_000)),
        Field("keepAlive", \.keepAlive, .duration(.milliseconds(100) ... .seconds(86_400))),
        Field("retry", \.retry, .duration(.zero ... .seconds(86_400))),
        Field("requestTimeout", \.requestTimeout, .duration(.milliseconds(100) ... .seconds(86_400))),
        Field("shutdownTimeout", \.shutdownTimeout, .duration(.zero ... .seconds(3600))),
        .later("dynamicConnections", only: .word("false")),
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
        Field("connections", \.connections, .list(.namePattern)),
    ]

    private static let form: Form<AccessToken> = fields.form(
        startingFrom: Draft(),
        finish: { draft, node, reader in
            guard let name = draft.name, let secret = draft.secret else {
                reader.complain(node, "needs \(draft.name == nil ? "name" : "token")")
                return nil
            }
            return AccessToken(
                name: name,
                secret: secret,
                scopes: draft.scopes,
                connections: draft.connections
            )
        },
        back: { token in
            Draft(
                name: token.name,
                secret: token.secret,
                scopes: token.scopes,
                connections: token.connections
            )
        }
    )

    /// Tokens that can be told apart, by people and by what clients present.
    static let list = Form<[AccessToken]>.list(form).checked { tokens in
        for (index, token) in tokens.enumerated() {
            if let twin = tokens[..<index].first(where: { $0.name == token.name || $0.secret == token.secret }
            ) {
                let what =
                    twin.name == token.name ? "two tokens have the name" : "there is another token like"
                return "\(what) `\(twin.name)`"
            }
        }
        return nil
    }
}

extension Form<Set<AccessScope>> {
    static let scopes = Form<[AccessScope]>.list(.word())
        .checked { $0.isEmpty ? "a token that allows nothing is of no use" : nil }
        .mapped({ Set($0) }, back: { scopes in AccessScope.allCases.filter(scopes.contains) })
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
