/// What a configuration file says, and all that is wrong with it.
struct ConfigurationFile {
    /// As the user named it.
    let path: String
    private(set) var draft = ConfigurationDraft()
    private(set) var complaints: [StartError.Complaint] = []
    private var positions: [String: ConfigurationNode.Position] = [:]
    /// The paths of what is wrong, and of what that is in.
    private var broken: Set<String> = []
    /// It could be read as YAML, and has keys.
    private(set) var isParsed = false

    /// Reads the file; whatever is wrong becomes complaints, in the order of the lines.
    init(path: String, environment: [String: String], files: ConfigurationFiles) {
        self.path = path
        guard let tree = tree(files) else { return }
        isParsed = ConfigurationReader.isSection(tree.root)
        var reader = ConfigurationReader(
            file: path,
            environment: environment,
            files: files,
            faults: tree.faults
        )
        draft = ConfigurationFile.draft(from: tree.root, &reader)
        complaints = reader.complaints
        positions = reader.positions
        broken = reader.broken
    }

    private static func draft(
        from tree: ConfigurationNode,
        _ reader: inout ConfigurationReader
    ) -> ConfigurationDraft {
        var draft = ConfigurationDraft()
        ConfigurationDraft.fields.read(tree, into: &draft, &reader)
        return draft
    }

    private mutating func tree(_ files: ConfigurationFiles) -> ConfigurationTree? {
        let bytes: [UInt8]
        do throws(ConfigurationFiles.Unreadable) {
            bytes = try files.read(path, ConfigurationFiles.longestDocument)
        } catch {
            complaints = [StartError.Complaint(path, "cannot be read: \(error.reason)", .unreadableFile)]
            return nil
        }
        do throws(ConfigurationFaults) {
            return try files.parse(bytes)
        } catch {
            complaints = error.faults.map { fault in
                complaint(fault.line, (fault.path.map { $0 + ": " } ?? "") + fault.text)
            }
            return nil
        }
    }

    private func complaint(_ line: Int, _ text: String) -> StartError.Complaint {
        StartError.Complaint(file: path, line: line, text, .configuration)
    }

    /// The beginning of a complaint about a value, if the file has it.
    func place(of key: String) -> StartError.Complaint? {
        positions[key].map { complaint($0.line, key + ": ") }
    }

    /// It may be meant to have connections, or cannot be read at all.
    var tellsOfConnections: Bool {
        !isParsed || tells(of: ["connections"])
            || complaints.contains { $0.text.hasSuffix("did you mean connections?") }
    }

    /// It may be meant to say who may come, or cannot be read at all.
    var tellsOfAccess: Bool {
        !isParsed || tells(of: ["http.tokens", "http.allowAnonymous"])
            || complaints.contains { $0.text.hasPrefix("http: ") }
    }

    /// Something is wrong with the values of these keys, or in them.
    private func tells(of keys: [String]) -> Bool {
        complaints.contains { complaint in
            keys.contains { key in
                [":", ".", "["].contains { complaint.text.hasPrefix(key + $0) }
            }
        }
    }

    /// Adds that connections have no URL, unless something is wrong with it, with the preset that might have one, or
    /// with the connection as a whole.
    mutating func requireURLs(in connections: [String: ConnectionDraft]) {
        for (name, connection) in connections where connection.source == nil {
            let key = "connections.\(name)"
            let isBroken =
                [".url", ".preset"].contains { broken.contains(key + $0) }
                || complaints.contains { $0.text.hasPrefix(key + ":") }
            if !isBroken { complaints.append(complaint(connection.position.line, key + ": needs url")) }
        }
    }

    /// All that is wrong, in the order of the file, and then of those of presets.
    var complaintsByLine: [StartError.Complaint] {
        complaints.enumerated()
            .sorted { first, second in
                let (one, other) = (first.element, second.element)
                let places = [one, other].map { $0.place == path ? "" : $0.place ?? "" }
                guard places[0] == places[1] else { return places[0] < places[1] }
                return (one.line ?? 0, first.offset) < (other.line ?? 0, second.offset)
            }
            .map(\.element)
    }
}
