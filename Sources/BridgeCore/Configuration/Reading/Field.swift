/// A key of a section of the configuration file, with what becomes of its value.
///
/// The fields of a section are its schema: they decide which keys there are, how they are read and shown, and
/// which of them wait for a later version.
struct Field<Section>: Sendable {
    let key: String
    /// The keys below it, if there is a section or a list of them.
    let keys: [SchemaKey]
    let isAvailable: Bool
    /// Takes the value, nil where the file has none, into the section.
    let read: @Sendable (ConfigurationNode?, inout Section, inout ConfigurationReader) -> Void
    /// The value as it may be shown; nil: nothing is shown.
    let write: @Sendable (Section) -> ConfigurationNode?
}

/// A key of the whole configuration, by its path: `connections.*.heartbeat.interval`.
package struct SchemaKey: Equatable, Sendable {
    package var path: String
    /// False: this version refuses to be given it.
    package var isAvailable: Bool

    func below(_ key: String) -> SchemaKey {
        SchemaKey(path: "\(key).\(path)", isAvailable: isAvailable)
    }
}

extension Field {
    /// A value that is kept where `place` says.
    init<Value>(
        _ key: String,
        _ place: any WritableKeyPath<Section, Value> & Sendable,
        _ form: Form<Value>,
        keys: [SchemaKey] = []
    ) {
        self.key = key
        self.keys = keys
        isAvailable = true
        read = { node, section, reader in
            guard let node, let value = form.read(node, &reader) else { return }
            section[keyPath: place] = value
        }
        write = { form.write($0[keyPath: place]) }
    }

    /// A value that need not be there; null says the same, and nothing is shown then.
    static func maybe<Value>(
        _ key: String,
        _ place: any WritableKeyPath<Section, Value?> & Sendable,
        _ form: Form<Value>
    ) -> Field {
        Field(
            key: key,
            keys: [],
            isAvailable: true,
            read: { node, section, reader in
                guard let node, let value = Form<Value?>.optional(form).read(node, &reader) else { return }
                section[keyPath: place] = value
            },
            write: { $0[keyPath: place].map(form.write) }
        )
    }

    /// A key that is looked at before all others.
    static func beforehand(_ key: String) -> Field {
        Field(key: key, keys: [], isAvailable: true, read: { _, _, _ in }, write: { _ in nil })
    }

    /// A section of its own.
    static func section<Part>(
        _ key: String,
        _ place: any WritableKeyPath<Section, Part> & Sendable,
        _ fields: [Field<Part>]
    ) -> Field {
        Field(
            key: key,
            keys: fields.schema(),
            isAvailable: true,
            read: { node, section, reader in fields.read(node, into: &section[keyPath: place], &reader) },
            write: { fields.write($0[keyPath: place]) }
        )
    }
}

extension [SchemaKey] {
    /// Keys that wait for a later version.
    static func later(_ paths: String...) -> [SchemaKey] {
        paths.map { SchemaKey(path: $0, isAvailable: false) }
    }
}

extension Field {
    /// A key that waits for a later version and may be given nothing but null, which asks for nothing.
    static func later(_ key: String, keys: [SchemaKey] = []) -> Field {
        Field(
            key: key,
            keys: keys,
            isAvailable: false,
            read: { node, _, reader in
                guard let node, node.isKnown, !reader.isNull(node) else { return }
                reader.complain(node, "is not available in this version; it can only be null")
            },
            write: { _ in nil }
        )
    }
}
