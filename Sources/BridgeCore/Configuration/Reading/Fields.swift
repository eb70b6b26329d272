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
            let given = members.filter { $0.key == field.key }
            guard let first = given.first else {
                // Most keys are not there: where nothing can be wrong nobody has to know where that is.
                field.read(nil, &section, &reader)
                continue
            }
            reader.inside(field.key, at: first.keyPosition) { reader in
                field.read(first.value, &section, &reader)
                // Which of them is meant is not known, so each is looked at.
                for twin in given.dropFirst() {
                    var ignored = section
                    field.read(twin.value, &ignored, &reader)
                }
            }
        }
        let keys = map(\.key)
        for member in members where !keys.contains(member.key) {
            let nearest = NearestName.of(member.key, among: keys)
            let hint = nearest.map { "did you mean \($0)?" } ?? "there are: \(keys.joined(separator: ", "))"
            reader.inside(member.key) { $0.complain(member.keyPosition, "unknown key; \(hint)") }
        }
    }

    /// The section as a mapping that may be shown.
    func write<Section>(_ section: Section) -> ConfigurationNode where Element == Field<Section> {
        .mapping(compactMap { field in field.write(section).map { (field.key, $0) } })
    }

    /// The form of a mapping that becomes a section, as far as it is right; `needed` keys must be there.
    func form<Section: Sendable>(
        startingFrom section: Section,
        needed: [String]
    ) -> Form<Section> where Element == Field<Section> {
        Form(
            read: { node, reader in
                guard let members = reader.members(of: node) else { return nil }
                var read = section
                self.read(node, into: &read, &reader)
                guard !reader.isBrokenAsWhole else { return read }
                let missing = needed.filter { key in !members.contains { $0.key == key } }
                for key in missing { reader.complain(node, "needs \(key)") }
                return read
            },
            write: { write($0) }
        )
    }
}
