extension ConnectionConfiguration {
    /// Reads what a client wants a connection to be: a section of `connections` as JSON.
    ///
    /// It may name nothing of the bridge's machine, be it a variable or a file. Throws all that is wrong at once, as
    /// `invalid-body` (400).
    ///
    /// Of the files only the presets inside the program are read.
    package init(ofClient body: [UInt8], files: ConfigurationFiles) throws(Problem) {
        let tree: ConfigurationTree
        do throws(ConfigurationFault) {
            tree = try JSONTree.read(body)
        } catch {
            throw .invalidSettings([(error.path.map { $0 + ": " } ?? "") + error.text])
        }
        var reader = ConfigurationReader(ofClient: tree.faults, files: files)
        let draft = ConnectionDraft(tree.root, &reader)
        if draft.source == nil, !reader.isBroken("url"), !reader.isBroken("preset"), !reader.isBrokenAsWhole {
            reader.complain(tree.root, "needs url")
        }
        guard reader.complaints.isEmpty, let finished = draft.finished else {
            throw .invalidSettings(reader.complaints.map(\.text))
        }
        self = finished
    }
}
