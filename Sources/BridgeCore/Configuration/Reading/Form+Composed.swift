/// Forms that are made of others.
extension Form {
    /// The other form, or null.
    static func optional<Wrapped>(_ form: Form<Wrapped>) -> Form where Value == Wrapped? {
        Form(
            read: { node, reader in
                if reader.isNull(node) { return .some(nil) }
                return form.read(node, &reader).map { .some($0) }
            },
            write: { value in value.map(form.write) ?? .null }
        )
    }

    /// The other form, for a place that is empty until it is read.
    static func required<Wrapped>(_ form: Form<Wrapped>) -> Form where Value == Wrapped? {
        Form(
            read: { node, reader in form.read(node, &reader).map { .some($0) } },
            write: { value in value.map(form.write) ?? .null }
        )
    }

    /// A list, whose wrong elements are all told.
    static func list<Element>(_ form: Form<Element>) -> Form where Value == [Element] {
        Form(
            read: { node, reader in
                guard let nodes = reader.elements(of: node) else { return nil }
                let elements = nodes.indices.map { index in
                    reader.inside(index) { form.read(nodes[index], &$0) }
                }
                let right = elements.compactMap(\.self)
                return right.count == elements.count ? right : nil
            },
            write: { .sequence($0.map(form.write)) }
        )
    }

    /// A mapping with keys of its own choice, in the order of the file.
    ///
    /// `check` says what is wrong with a key.
    static func dictionary<Element>(
        _ form: Form<Element>,
        check: @escaping @Sendable (String) -> String?
    ) -> Form where Value == [(key: String, value: Element)] {
        Form(
            read: { node, reader in
                guard let members = reader.members(of: node) else { return nil }
                let elements = members.map { member in
                    reader.inside(member.key, at: member.keyPosition.line) { reader in
                        if let complaint = check(member.key) {
                            reader.complain(member.keyPosition.line, complaint)
                        }
                        return form.read(member.value, &reader).map { (key: member.key, value: $0) }
                    }
                }
                let right = elements.compactMap(\.self)
                return right.count == elements.count ? right : nil
            },
            write: { pairs in .mapping(pairs.map { ($0.key, form.write($0.value)) }) }
        )
    }

    /// The other form with a closer look at what it reads: `check` says what is wrong with it.
    func checked(_ check: @escaping @Sendable (Value) -> String?) -> Form {
        Form(
            read: { node, reader in
                guard let value = read(node, &reader) else { return nil }
                if let complaint = check(value) { reader.complain(node, complaint) }
                return value
            },
            write: write
        )
    }

    /// The same form of another type.
    func mapped<Other>(
        _ to: @escaping @Sendable (Value) -> Other,
        back: @escaping @Sendable (Other) -> Value
    ) -> Form<Other> {
        Form<Other>(read: { node, reader in read(node, &reader).map(to) }, write: { write(back($0)) })
    }
}
