internal import WebSocketProtocol

/// What messages are made of and compared with. Their texts are payloads, so they are never shown.
extension Form<MessageTemplate> {
    /// `{ text: … }` or `{ base64: … }`.
    static let messageTemplate = Form(
        read: { node, reader in
            reader.onlyMember(of: node, among: ["text", "base64"]) { member, reader in
                (member.key == "text" ? textMessage : binaryMessage).read(member.value, &reader)
            }
        },
        write: { message in (message.kind == .text ? textMessage : binaryMessage).write(message) }
    )

    private static let textMessage = payload(
        "a text, in which templates may stand",
        key: "text",
        mask: secretMask,
        parse: { text throws(MalformedValue) in try MessageTemplate(text: text) }
    )

    private static let binaryMessage = payload(
        "base64, in which templates may stand",
        key: "base64",
        mask: maskInBase64,
        parse: { text throws(MalformedValue) in try MessageTemplate(base64: text) }
    )

    private static func payload(
        _ expectation: String,
        key: String,
        mask: String,
        parse: @escaping @Sendable (String) throws(MalformedValue) -> MessageTemplate
    ) -> Form {
        let form = scalar(
            expectation,
            isSecret: true,
            isTemplate: true,
            parse: parse,
            write: { _ in .mapping([(key, .quoted(mask))]) }
        )
        return Form(
            read: { node, reader in
                guard let message = form.read(node, &reader) else { return nil }
                // Outside of strings a parameter is JSON itself: a mistake in it is found here, not by the service.
                let sample = reader.text(of: node, withParametersAs: PresetParameters.standIn)
                if !message.template.isJSON, let sample, (try? Template(sample))?.isJSON == true {
                    reader.complain(
                        node,
                        "is no JSON with the values of its parameters; one outside of quotes must be JSON itself"
                    )
                }
                return message
            },
            write: form.write
        )
    }
}

/// What stands for a secret where only base64 may stand.
private let maskInBase64 = "Kioq"

extension Form<HeartbeatSettings.Beat> {
    /// `ping`, `none` or a message.
    static let beat = Form(
        read: { node, reader in
            guard case .scalar = node.content else {
                return Form<MessageTemplate>.messageTemplate.read(node, &reader).map { .message($0) }
            }
            return plain.read(node, &reader)
        },
        write: { beat in
            switch beat {
            case .ping: .plain("ping")
            case .none: .plain("none")
            case .message(let template): Form<MessageTemplate>.messageTemplate.write(template)
            }
        }
    )

    private static let plain = scalar(
        "ping, none, { text: … } or { base64: … }",
        parse: { text throws(MalformedValue) in
            switch text {
            case "ping": return .ping
            case "none": return .none
            case _: throw MalformedValue("ping, none, { text: … } or { base64: … }")
            }
        },
        write: { _ in .plain("ping") }
    )
}

// MARK: - Matchers

extension Form<Matcher> {
    static let keys = ["equals", "contains", "prefix", "regex", "base64", "json", "any"]

    /// The matcher that a member with one of the keys is.
    static func read(
        _ member: ConfigurationNode.Member,
        _ reader: inout ConfigurationReader
    ) -> Matcher? {
        switch member.key {
        case "equals": text { .equals($0) }.read(member.value, &reader)
        case "contains": text { .contains(Needle($0)) }.read(member.value, &reader)
        case "prefix": text { .prefix($0) }.read(member.value, &reader)
        case "regex": regex.read(member.value, &reader)
        case "base64": binary.read(member.value, &reader)
        case "json": json.read(member.value, &reader)
        case _: any.read(member.value, &reader)
        }
    }

    /// A mapping with exactly one of these keys.
    static let matcher = Form(
        read: { node, reader in
            reader.onlyMember(of: node, among: keys) { member, reader in read(member, &reader) }
        },
        write: { matcher in
            switch matcher {
            case .equals: .mapping([("equals", .quoted(secretMask))])
            case .contains: .mapping([("contains", .quoted(secretMask))])
            case .prefix: .mapping([("prefix", .quoted(secretMask))])
            case .regex: .mapping([("regex", .quoted(#"\*\*\*"#))])
            case .binary: .mapping([("base64", .quoted(maskInBase64))])
            case .json(let conditions): .mapping([("json", shown(conditions))])
            case .any: .mapping([("any", .plain("true"))])
            }
        }
    )

    private static func text(_ make: @escaping @Sendable (String) -> Matcher) -> Form {
        scalar(
            "a text",
            isSecret: true,
            parse: { text throws(MalformedValue) in make(text) },
            write: { _ in .null }
        )
    }

    private static let regex = scalar(
        "a regular expression",
        isSecret: true,
        parse: { text throws(MalformedValue) in
            do throws(MalformedPattern) {
                return .regex(try RegularExpression(text))
            } catch {
                throw MalformedValue("a regular expression, but \(error.text)")
            }
        },
        write: { _ in .null }
    )

    private static let binary = scalar(
        "base64 with its padding",
        isSecret: true,
        parse: { text throws(MalformedValue) in
            guard let bytes = Base64.decode(Array(text.utf8)) else {
                throw MalformedValue("base64 with its padding")
            }
            return .binary(bytes)
        },
        write: { _ in .null }
    )

    private static let any = scalar(
        "true",
        parse: { text throws(MalformedValue) in
            guard text == "true" else { throw MalformedValue("true") }
            return .any
        },
        write: { _ in .null }
    )

    private static let json = Form(
        read: { node, reader in
            guard let pairs = pointers.read(node, &reader) else { return nil }
            guard !pairs.isEmpty else {
                reader.complain(node, "expected pointers and the values that must stand there, not nothing")
                return nil
            }
            let conditions = pairs.compactMap { pair in
                JSONPointer(pair.key).map { JSONConditions.Condition($0, pair.value) }
            }
            return .json(JSONConditions(conditions))
        },
        write: { _ in .null }
    )

    private static let pointers = Form<[(key: String, value: JSONScalar?)]>.dictionary(.jsonScalar) { key in
        JSONPointer(key) == nil ? "expected a JSON pointer, which is empty or begins with /" : nil
    }

    private static func shown(_ conditions: JSONConditions) -> ConfigurationNode {
        .mapping(
            conditions.conditions.map { condition in
                (condition.pointer.text, Form<JSONScalar?>.jsonScalar.write(condition.value))
            }
        )
    }
}

extension Form<JSONScalar?> {
    /// A string, a number, a truth value, or null for "whatever stands there".
    static let jsonScalar = Form(
        read: { node, reader in
            guard let scalar = reader.scalar(node, expecting: "a text, a number, true, false or null") else {
                return nil
            }
            if scalar.isNull { return .some(nil) }
            guard case .scalar(_, .plain) = node.content else { return .string(scalar.text) }
            if let isTrue = Bool(scalar.text) { return .bool(isTrue) }
            guard let number = JSONNumber(scalar.text) else { return .string(scalar.text) }
            return .number(scalar.isWritten ? number : number.unshown)
        },
        write: { value in
            switch value {
            case .string: .quoted(secretMask)
            case .number(let number): number.text.isEmpty ? .quoted(secretMask) : .plain(number.text)
            case .bool(let isTrue): .plain(isTrue ? "true" : "false")
            case nil: .null
            }
        }
    )
}

extension ConfigurationReader {
    /// The one member of a mapping that has exactly one of these keys; nil after complaining.
    mutating func onlyMember<Value>(
        of node: ConfigurationNode,
        among keys: [String],
        _ read: (ConfigurationNode.Member, inout ConfigurationReader) -> Value?
    ) -> Value? {
        guard let members = members(of: node) else { return nil }
        for member in members where !keys.contains(member.key) {
            let nearest = NearestName.of(member.key, among: keys)
            let hint = nearest.map { "did you mean \($0)?" } ?? "there are: \(keys.joined(separator: ", "))"
            inside(member.key) { $0.complain(member.keyPosition, "unknown key; \(hint)") }
            return nil
        }
        guard members.count == 1, let member = members.first else {
            complain(node, "expected exactly one of \(keys.joined(separator: ", "))")
            return nil
        }
        return inside(member.key, at: member.keyPosition) { read(member, &$0) }
    }
}
