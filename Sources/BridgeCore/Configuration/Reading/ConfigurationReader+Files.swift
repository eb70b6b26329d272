/// Other files than the configuration itself, as it refers to them.
extension ConfigurationReader {
    /// A path as a whole, but plain enough to be shown.
    static func shown(_ path: String) -> String {
        Problem.quotable(path, limit: 4096)
    }

    /// The configuration file's folder, without a slash at its end; nil: the working directory.
    var folder: String? {
        file.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(file[..<$0]) }
    }

    /// The path as seen from the configuration file's folder.
    func resolved(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder else { return path }
        return "\(folder)/\(path)"
    }

    /// Complains, and returns false, where nothing of this machine may be named.
    mutating func mayName(_ thing: String, at node: ConfigurationNode) -> Bool {
        // What a built-in preset names was not chosen by whoever chose the preset.
        guard reach == .nothing, node.position.preset == nil else { return true }
        complain(node, "names \(thing), which only the configuration file may")
        return false
    }

    /// Complains unless the file can be read.
    mutating func requireReadable(_ path: String, at node: ConfigurationNode) {
        do throws(ConfigurationFiles.Unreadable) {
            _ = try files.read(path, ConfigurationFiles.longestValue)
        } catch {
            complain(
                node.position,
                "\(Self.shown(path)) cannot be read: \(error.reason)",
                .unreadableFile
            )
        }
    }

    /// What is wrong with the files that TLS settings name.
    mutating func faults(of settings: TLSSettings) -> [TLSFileFault] {
        if let known = triedTLS[settings] { return known }
        let faults = files.tryTLS(settings)
        triedTLS[settings] = faults
        return faults
    }

    /// What takes the place of a reference in a value that stands in the configuration, or in a preset.
    func lookUp(
        _ reference: Interpolation.Reference,
        inPreset isInPreset: Bool
    ) throws(Interpolation.Failure) -> Interpolation.Replacement {
        switch reference {
        case .variable(let name, let standIn):
            try requireMachine()
            if let value = environment[name], !value.isEmpty || standIn == nil { return .init(text: value) }
            guard let standIn else {
                throw .init(text: "the environment variable \(Problem.quotable(name)) is not set")
            }
            return .init(text: standIn)
        case .file(let path):
            try requireMachine()
            return .init(text: try content(of: resolved(path)))
        case .parameter(let name):
            guard isInPreset, let parameters else {
                throw .init(text: "has a ${parameter:\(name)}, which only the settings of a preset may")
            }
            return try parameters.value(of: name)
        }
    }

    private func requireMachine() throws(Interpolation.Failure) {
        guard reach == .nothing else { return }
        throw .init(text: "has a ${}, which only the configuration file may; a literal ${ is written $${")
    }

    private func content(of path: String) throws(Interpolation.Failure) -> String {
        let bytes: [UInt8]
        do throws(ConfigurationFiles.Unreadable) {
            bytes = try files.read(path, ConfigurationFiles.longestValue)
        } catch {
            throw .init(
                text: "\(Self.shown(path)) cannot be read: \(error.reason)",
                exitCode: .unreadableFile
            )
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .init(text: "\(Self.shown(path)) is not UTF-8")
        }
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let trimmed = text.utf8.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return String(decoding: Array(trimmed), as: UTF8.self)
    }
}
