internal import BridgeCore
internal import BridgeIO

extension ConfigurationFiles {
    /// The files of this machine, with all that a bridge needs of them at its start.
    ///
    /// `patience` is how long a pipe may take.
    static func ofMachine(patience: Duration = .seconds(60)) -> ConfigurationFiles {
        let folder = Machine.executableFolder
        var files = ConfigurationFiles.local(patience: patience)
        files.tryTLS = \.fileFaults
        files.memoryLimit = { .ofSystem }
        files.findPage = { directory throws(Unreadable) in
            do throws(StartError) {
                _ = try FoundPage(directory, executableFolder: folder)
            } catch {
                throw Unreadable(error.complaints.map(\.text).joined(separator: "; "))
            }
        }
        return files
    }
}
