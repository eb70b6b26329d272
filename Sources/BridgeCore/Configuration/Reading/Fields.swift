/// What the fields of a section do together.
extension Array {
    /// All keys, sections before what is in them.
    func schema<Section>() -> [SchemaKey] where Element == Field<Section> {
        flatMap { field in
            [SchemaKey(path: field.key, isAvailable: field.isAvailable)]
                + field.keys.map { $0.below(field.key) }
        }
    }

    /// Takes what a mapping holds into a section, and complains about keys that are none of these.
    func read<Section>(
        _ node: ConfigurationNode?,
        into section: inout Section,
        _ reader: inout ConfigurationReader
    ) where Element == Field<Section> {
        let members = node.flatMap { reader.members(of: $0) } ?? []
        for field in self {
            let member = members.first { $0.key == field.key }
            reader.inside(field.key, at: member?.keyPosition.line) { reader in
                field.read(member?.value, &section, &reader)
            }
        }
        let keys = map(\.key)
        for member in members where !keys.contains(member.key) {
            let nearest = NearestName.of(member.key, among: keys)
            let hint = nearest.map { "did you mean \($0)?" } ?? "there are: \(keys.joined(separator: ", "))"
            reader.inside(member.key) { $0.complain(member.keyPosition.line, "unknown key; \(hint)") }
        }
    }

    /// The section as a mapping that may be shown.
    func write<Section>(_ section: Section) -> ConfigurationNode where Element == Field<Section> {
        .mapping(compactMap { field in field.write(section).map { (field.key, $0) } })
    }

    /// The form of a mapping that becomes a value once all of it was read.
    ///
    /// `finish` gets the node for its complaints.
    func form<Section: Sendable, Value>(
        startingFrom section: Section,
        finish: @escaping @Sendable (Section, ConfigurationNode, inout ConfigurationReader) -> Value?,
        back: @escaping @Sendable (Value) -> Section
    ) -> Form<Value> where Element == Field<Section> {
        Form(
            read: { node, reader in
                let before = reader.complaints.count
                var read = section
                self.read(node, into: &read, &reader)
                return reader.complaints.count == before ? finish(read, node, &reader) : nil
            },
            write: { write(back($0)) }
        )
    }
}
