/// Presets, as the connections of a file name them.
extension ConfigurationReader {
    /// Reads a connection over its preset, if it names one; `body` gets both as one mapping.
    mutating func withPreset<Result>(
        of connection: ConfigurationNode,
        _ body: (ConfigurationNode, Preset?, inout ConfigurationReader) -> Result
    ) -> Result {
        guard case .mapping(let members) = connection.content else { return body(connection, nil, &self) }
        let named = members.first { $0.key == "preset" }
        let given = members.first { $0.key == "parameters" }
        let preset = named.flatMap { member in
            inside("preset", at: member.keyPosition) { $0.preset(namedBy: member.value) }
        }
        var parameters = PresetParameters(declared: preset?.parameters ?? [])
        parameters.environment = environment
        parameters.home = path
        if let given {
            // What they are for is not known where the preset is not.
            let isKnown = preset != nil || named.map { isNull($0.value) } ?? true
            read(given, &parameters, of: preset, isKnown: isKnown)
        }
        guard let preset else { return body(connection, nil, &self) }
        inside("parameters", at: given?.keyPosition ?? named?.keyPosition) { _ in }
        return with(parameters) { body(connection.over(preset.settings), preset, &$0) }
    }

    /// Reads a preset alone, its parameters being open.
    mutating func withPresetAlone<Result>(
        _ preset: Preset,
        _ body: (ConfigurationNode, inout ConfigurationReader) -> Result
    ) -> Result {
        var parameters = PresetParameters(declared: preset.parameters)
        parameters.areOpen = true
        return with(parameters) { body(preset.settings, &$0) }
    }

    private mutating func with<Result>(
        _ parameters: PresetParameters,
        _ body: (inout ConfigurationReader) -> Result
    ) -> Result {
        self.parameters = parameters
        defer { self.parameters = nil }
        return body(&self)
    }

    // MARK: Parameters

    private mutating func read(
        _ member: ConfigurationNode.Member,
        _ parameters: inout PresetParameters,
        of preset: Preset?,
        isKnown: Bool
    ) {
        let names = preset?.parameters.map(\.name) ?? []
        let given = inside("parameters", at: member.keyPosition) {
            reader -> [(key: String, value: String)]? in
            let form = Form<[(key: String, value: String)]>.dictionary(.parameter) { name in
                guard isKnown, !names.contains(name) else { return nil }
                guard preset != nil else { return "there is no preset that could have a parameter" }
                let hint = NearestName.of(name, among: names).map { "did you mean \($0)?" }
                let all = names.isEmpty ? "it has none" : "there are: \(names.joined(separator: ", "))"
                return "the preset has no such parameter; \(hint ?? all)"
            }
            return form.read(member.value, &reader)
        }
        parameters.isBroken = given == nil
        for (name, value) in given ?? [] { parameters.given[name] = value }
    }

    /// Says once that a parameter needs a value, at the connection that does not give it.
    mutating func complainOfMissing(_ name: String) {
        markBroken()
        guard let parameter = parameters?.declared.first(where: { $0.name == name }),
            parameters?.isBroken == false, let home = parameters?.home
        else { return }
        parameters?.missing.insert(name)
        let about = parameter.summary.map { " (\($0))" } ?? ""
        let places = reach == .machine ? parameter.places : "put \(name) under `parameters`"
        go(to: home.appending(key: "parameters")) { reader in
            reader.complainHere("the preset needs the parameter \(name)\(about): \(places)")
        }
    }

    mutating func complainOfShownParameter(at node: ConfigurationNode) {
        complain(node, "may not hold a ${parameter:}, whose value is secret, as this is shown")
    }

    /// A text with all parameters replaced by the same; nil where it has none.
    func text(of node: ConfigurationNode, withParametersAs substitute: String) -> String? {
        guard case .scalar(let text, _) = node.content, text.contains("${parameter:") else { return nil }
        var other = self
        other.parameters?.substitute = substitute
        return other.scalar(node, expecting: "")?.text
    }

    /// The text depends on parameters.
    func isParameterized(_ node: ConfigurationNode) -> Bool {
        text(of: node, withParametersAs: "0") != text(of: node, withParametersAs: "1")
    }
}

extension Form<String> {
    /// The value of a parameter.
    fileprivate static let parameter = scalar(
        "a text or a number",
        isSecret: true,
        parse: { text throws(MalformedValue) in text },
        write: { _ in .quoted(secretMask) }
    )
}
