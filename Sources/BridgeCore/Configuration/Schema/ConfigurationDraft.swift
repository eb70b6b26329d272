/// The whole configuration file while it is read.
struct ConfigurationDraft: Sendable {
    var http = HTTPSettings()
    var memory = MemorySettings()
    var storage = StorageSettings()
    var history = HistoryLimits()
    /// By name.
    var connections: [String: ConnectionDraft] = [:]

    init() {}

    init(_ configuration: BridgeConfiguration) {
        http = configuration.http
        memory = configuration.memory
        storage = configuration.storage
        history = configuration.history
        connections = configuration.connections.mapValues(ConnectionDraft.init)
    }

    /// The file as a whole.
    static let fields: [Field<ConfigurationDraft>] = [
        .section("http", \.http, HTTPSettings.fields),
        .section("memory", \.memory, MemorySettings.fields),
        .section("storage", \.storage, StorageSettings.fields),
        .section("history", \.history, HistoryLimits.fields),
        Field(
            "connections",
            \.connections,
            connections,
            keys: [SchemaKey(path: "*", isAvailable: true)]
                + ConnectionDraft.fields.schema().map { $0.below("*") }
        ),
    ]

    private static let connections = Form<[(key: String, value: ConnectionDraft)]>
        .dictionary(connection) { ConnectionName.isValid($0) ? nil : ConnectionName.expectation }
        .checked { connections in
            connections.count <= BridgeConfiguration.mostConnections
                ? nil : "there are more than \(BridgeConfiguration.mostConnections) connections"
        }
        .mapped(
            { Dictionary($0) { first, _ in first } },
            back: { connections in
                connections.map { (key: $0.key, value: $0.value) }.sorted { $0.key < $1.key }
            }
        )

    private static let connection = Form<ConnectionDraft>(
        read: { node, reader in
            ConnectionDraft(node, &reader)
        },
        write: { ConnectionDraft.fields.write($0) }
    )
}

/// The keys of the configuration file and what this version does with them.
package enum ConfigurationSchema {
    /// Every key there is, a section before what is in it; `*` stands for the name of a connection, and the
    /// elements of a list are not numbered.
    package static let keys = ConfigurationDraft.fields.schema()
}

extension BridgeConfiguration {
    /// All settings that this version has, as YAML that reads as the same configuration, but for the secrets.
    ///
    /// Where the memory of the system decides, comments say how.
    package func effectiveText(_ limit: MemoryLimit?) -> String {
        var document = YAMLText.document(ConfigurationDraft.fields.write(ConfigurationDraft(self)))
        for (name, file) in presets.sorted(by: { $0.key < $1.key }) {
            document +=
                "# connections.\(name): begins with the preset \(Problem.quotable(file, limit: 4096))\n"
        }
        guard memory.maxBytes == nil else { return document }
        let bound = MemoryBound(configured: nil, limit: limit)
        return document + "# memory.maxBytes: \(ByteSize(bytes: bound.bytes).text) here (\(bound.source))\n"
    }

    /// What the store holds, as a comment; throws where `serve` could not open it.
    func storeText(_ files: ConfigurationFiles) throws(StartError) -> String {
        guard let directory = storage.directory else { return "" }
        do throws(ConfigurationFiles.Unreadable) {
            return "# storage: \(try files.inspectStore(directory))\n"
        } catch {
            throw StartError([.init(nil, error.reason, .storeUnusable)])
        }
    }
}
