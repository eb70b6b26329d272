/// The files of presets: where they are found, and what is read of them.
extension ConfigurationReader {
    /// The preset that a value names; nil for null, and after complaining.
    mutating func preset(namedBy node: ConfigurationNode) -> Preset? {
        guard node.isKnown, !isNull(node) else { return nil }
        guard let scalar = scalar(node, expecting: PresetName.expectation) else { return nil }
        guard let name = PresetName(scalar.text) else {
            let shown = scalar.isWritten ? ", not `\(Problem.quotable(scalar.text))`" : ""
            complain(node, "expected \(PresetName.expectation)\(shown)")
            return nil
        }
        if name.isPath, !mayName("a file of the bridge's machine", at: node) { return nil }
        let preset = preset(name, at: node.position)
        if preset == nil { markBroken() }
        return preset
    }

    /// The preset of that name, which is read once; nil after complaining.
    mutating func preset(_ name: PresetName, at position: ConfigurationNode.Position) -> Preset? {
        if let known = presets[name.text] { return known }
        do throws(ConfigurationFiles.Unreadable) {
            guard let (file, bytes) = try find(name) else {
                complain(position, "there is no preset \(name.text); \(hint(about: name))")
                presets.updateValue(nil, forKey: name.text)
                return nil
            }
            let preset = read(bytes, file)
            presets.updateValue(preset, forKey: name.text)
            return preset
        } catch {
            complain(position, error.reason, .unreadableFile)
            presets.updateValue(nil, forKey: name.text)
            return nil
        }
    }

    private func hint(about name: PresetName) -> String {
        let names = files.builtInPresets().keys.sorted()
        if let nearest = NearestName.of(name.text, among: names) { return "did you mean \(nearest)?" }
        return names.isEmpty ? "none is built in" : "there are: \(names.joined(separator: ", "))"
    }

    /// The first file that there is; throws if a path leads nowhere, or something cannot be read.
    private func find(
        _ name: PresetName
    ) throws(ConfigurationFiles.Unreadable) -> (file: String, bytes: [UInt8])? {
        for place in name.places(folder: folder, executableFolder: files.executableFolder) {
            switch place {
            case .builtIn(let name):
                guard let bytes = files.builtInPresets()[name] else { continue }
                return ("built-in presets/\(name).yaml", bytes)
            case .file(let path):
                // Who may name nothing of the machine gets what is built in.
                guard reach == .machine else { continue }
                do throws(ConfigurationFiles.Unreadable) {
                    return (path, try files.read(path, ConfigurationFiles.longestValue))
                } catch {
                    if error.isMissing, !name.isPath { continue }
                    throw .init("\(Self.shown(path)) cannot be read: \(error.reason)")
                }
            }
        }
        return nil
    }

    /// Nil after complaining.
    private mutating func read(_ bytes: [UInt8], _ file: String) -> Preset? {
        let tree: ConfigurationTree
        do throws(ConfigurationFaults) {
            tree = try files.parse(bytes)
        } catch {
            for fault in error.faults { complain(fault, inPreset: file) }
            return nil
        }
        for fault in tree.faults { complain(fault, inPreset: file) }
        let root = tree.root.placed(inPreset: file)
        // What is wrong with the preset itself is told by its own keys.
        return go(to: ConfigurationPath()) { reader in
            guard let members = reader.members(of: root) else { return nil }
            var parameters: [PresetParameter]? = []
            for member in members {
                reader.inside(member.key, at: member.keyPosition) { reader in
                    switch member.key {
                    case "parameters": parameters = PresetParameter.list.read(member.value, &reader)
                    case "preset": reader.complain(member.keyPosition, "a preset cannot begin with another")
                    case _: break
                    }
                }
            }
            let settings = members.filter { !["parameters", "preset"].contains($0.key) }
            let node = ConfigurationNode(.mapping(settings), at: root.position)
            return parameters.map { Preset(file: file, settings: node, parameters: $0) }
        }
    }
}

extension PresetParameter {
    /// A parameter while it is read.
    private struct Draft: Sendable {
        var variable: String?
        var summary: String?
        var standard: String?

        static let fields: [Field<Draft>] = [
            Field("variable", \.variable, .optional(.variable)),
            Field("description", \.summary, .optional(.text)),
            Field("default", \.standard, .optional(.text)),
        ]
    }

    private static let draft = Draft.fields.form(startingFrom: Draft(), needed: [])

    /// What stands under `parameters` in the file of a preset.
    static let list = Form<[(key: String, value: Draft)]>
        .dictionary(draft) { isName($0) ? nil : expectation }
        .mapped(
            { drafts in
                drafts.map { name, draft in
                    PresetParameter(
                        name: name,
                        variable: draft.variable,
                        summary: draft.summary,
                        standard: draft.standard
                    )
                }
            },
            back: { parameters in
                parameters.map { parameter in
                    let draft = Draft(
                        variable: parameter.variable,
                        summary: parameter.summary,
                        standard: parameter.standard
                    )
                    return (key: parameter.name, value: draft)
                }
            }
        )
}

extension Form<String> {
    fileprivate static let variable = scalar(
        "the name of an environment variable",
        parse: { text throws(MalformedValue) in
            guard Interpolation.Reference.isVariable(text[...].utf8) else {
                throw MalformedValue("the name of an environment variable")
            }
            return text
        },
        write: { .quoted($0) }
    )
}
