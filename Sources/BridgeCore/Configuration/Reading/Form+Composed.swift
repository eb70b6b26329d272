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
    ///
    /// `identities` are what no two elements may have in common: how each is told apart, and what it is called.
    static func list<Element>(
        _ form: Form<Element>,
        identities: @escaping @Sendable (Element) -> [(key: String, name: String)] = { _ in [] }
    ) -> Form where Value == [Element] {
        Form(
            read: { node, reader in
                guard let nodes = reader.elements(of: node) else { return nil }
                var lines: [String: Int] = [:]
                let elements = nodes.indices.map { index in
                    let node = nodes[index]
                    return reader.inside(index, at: node.position) { reader in
                        guard let element = form.read(node, &reader) else { return Element?.none }
                        for identity in identities(element) {
                            if let line = lines[identity.key] {
                                reader.complain(
                                    node,
                                    identity.name + "stands twice; the first is on line \(line)"
                                )
                            } else {
                                lines[identity.key] = node.position.line
                            }
                        }
                        return element
                    }
                }
                let right = elements.compactMap(\.self)
                return right.count == elements.count ? right : nil
            },
            write: { .sequence($0.map(form.write)) }
        )
    }

    /// A list with nil in the place of each wrong element, so that the others can be looked at together.
    static func partialList<Element>(_ form: Form<Element>) -> Form where Value == [Element?] {
        Form(
            read: { node, reader in
                reader.elements(of: node)?.enumerated().map { index, node in
                    reader.inside(index, at: node.position) { form.read(node, &$0) }
                }
            },
            write: { .sequence($0.compactMap(\.self).map(form.write)) }
        )
    }

    /// A mapping with keys of its own choice, in the order of the file.
    ///
    /// `check` says what is wrong with a key; keys are the same where what `fold` makes of them is.
    static func dictionary<Element>(
        _ form: Form<Element>,
        fold: @escaping @Sendable (String) -> String = { $0 },
        check: @escaping @Sendable (String) -> String?
    ) -> Form where Value == [(key: String, value: Element)] {
        Form(
            read: { node, reader in
                guard let members = reader.members(of: node) else { return nil }
                var first: [String: ConfigurationNode.Member] = [:]
                let elements = members.map { member in
                    reader.inside(member.key, at: member.keyPosition) { reader in
                        if let complaint = check(member.key) {
                            reader.complain(member.keyPosition, complaint)
                        }
                        let known = first.updateValue(
                            first[fold(member.key)] ?? member,
                            forKey: fold(member.key)
                        )
                        // The very same key was told when the file was taken apart.
                        if let known, known.key != member.key {
                            reader.complain(
                                member.keyPosition,
                                "is the same as \(Problem.quotable(known.key)) on line \(known.keyPosition.line)"
                            )
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

    /// What the other form reads as far as it is right, as a value once all of it is.
    func finished<Other>(
        _ to: @escaping @Sendable (Value) -> Other?,
        back: @escaping @Sendable (Other) -> Value
    ) -> Form<Other> {
        Form<Other>(read: { node, reader in read(node, &reader).flatMap(to) }, write: { write(back($0)) })
    }

    /// The same form of another type.
    func mapped<Other>(
        _ to: @escaping @Sendable (Value) -> Other,
        back: @escaping @Sendable (Other) -> Value
    ) -> Form<Other> {
        Form<Other>(read: { node, reader in read(node, &reader).map(to) }, write: { write(back($0)) })
    }
}
