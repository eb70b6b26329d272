/// Settings that connections begin with: a file of them, with what is to be filled in.
struct Preset: Sendable {
    /// The file, for errors.
    var file: String
    /// Its settings, a mapping as of a connection.
    var settings: ConfigurationNode
    var parameters: [PresetParameter]
}

/// What stands under `preset`: the name of a file, or a path.
struct PresetName: Equatable, Sendable {
    /// A place that may have it.
    enum Place: Equatable, Sendable {
        case file(String)
        /// The copy inside the program, by name.
        case builtIn(String)
    }

    static let expectation = "the name of a preset, or the path of a YAML file"

    let text: String

    /// Nil if it is neither a name nor a path.
    init?(_ text: String) {
        self.text = text
        guard ConnectionName.isValid(text) || isPath, !text.utf8.contains(0) else { return nil }
    }

    /// A path has a slash, or says that it is of a file.
    var isPath: Bool {
        text.utf8.contains(UInt8(ascii: "/")) || [".yaml", ".yml", ".json"].contains { text.hasSuffix($0) }
    }

    /// The places in the order in which they are tried; `folder` is that of the configuration file.
    func places(folder: String?, executableFolder: String?) -> [Place] {
        let beside = folder.map { $0 + "/" } ?? ""
        guard !isPath else { return [.file(text.hasPrefix("/") ? text : beside + text)] }
        var places = [Place.file("\(beside)presets/\(text).yaml")]
        if let executableFolder {
            places.append(.file("\(executableFolder)/../share/wsbridge/presets/\(text).yaml"))
        }
        return places + [.builtIn(text)]
    }
}
