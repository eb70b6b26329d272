/// A preset alone: what `wsbridge check --preset` tells of it.
struct PresetReport {
    private let name: String
    private let preset: Preset
    private let draft: ConnectionDraft

    /// Reads the preset as a connection would, its parameters being open.
    ///
    /// Throws all that is wrong with it.
    init(
        _ arguments: CommandArguments,
        _ environment: [String: String],
        _ files: ConfigurationFiles
    ) throws(StartError) {
        let settings = SettingReader(arguments, environment, for: .check)
        guard settings.complaints.isEmpty else { throw StartError(settings.complaints) }
        name = arguments.flags[.preset] ?? ""
        let place = Setting.preset.flag
        guard let named = PresetName(name) else {
            let text = "expected \(PresetName.expectation), not `\(Problem.quotable(name))`"
            throw StartError([.init(place, text, .usage)])
        }
        // It is looked for where a connection of this file would find it.
        let file = settings.configurationFile ?? ""
        var reader = ConfigurationReader(file: file, environment: environment, files: files)
        let found = reader.preset(named, at: ConfigurationNode.Position(line: 1, column: 1))
        let draft = found.map { found in
            reader.withPresetAlone(found) { ConnectionDraft(merged: $0, &$1) }
        }
        guard let found, let draft, reader.complaints.isEmpty else {
            throw StartError(reader.complaints.map { $0.place == file ? $0.moved(to: place) : $0 })
        }
        preset = found
        self.draft = draft
    }

    /// The preset over the defaults, as YAML that is the same preset.
    var text: String {
        let defaults = ConnectionDraft.fields.write(ConnectionDraft())
        let merged = preset.settings.over(defaults).ordered(like: defaults)
        guard case .mapping(let members) = merged.content else { return "" }
        var settings: [(key: String, value: ConfigurationNode)] = []
        if !preset.parameters.isEmpty {
            settings.append(("parameters", PresetParameter.shown(preset.parameters)))
        }
        // Without a URL it is for the connection to say.
        for member in members where member.key != "url" || draft.source != nil {
            settings.append((member.key, member.value))
        }
        return "# The preset \(name): \(preset.file)\n" + YAMLText.source(.mapping(settings))
    }

    /// The same in words.
    var explanation: String {
        var explanation = Explanation(
            "preset \(name) (\(preset.file))",
            draft.source,
            draft.upstream,
            draft.settings
        )
        explanation.add(preset.parameters)
        return explanation.text
    }
}

extension PresetParameter {
    /// As they stand in a preset.
    fileprivate static func shown(_ parameters: [PresetParameter]) -> ConfigurationNode {
        .mapping(
            parameters.map { parameter in
                let members = [
                    ("variable", parameter.variable), ("description", parameter.summary),
                    ("default", parameter.standard),
                ]
                return (
                    parameter.name,
                    .mapping(members.compactMap { key, text in text.map { (key, .quoted($0)) } })
                )
            }
        )
    }
}

extension StartError.Complaint {
    /// The same about a flag, whose value is wrong rather than a file.
    fileprivate func moved(to flag: String) -> StartError.Complaint {
        .init(flag, text, exitCode == .configuration ? .usage : exitCode)
    }
}
