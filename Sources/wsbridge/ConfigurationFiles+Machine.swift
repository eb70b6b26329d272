internal import BridgeCore
internal import BridgeIO
internal import Storage

extension ConfigurationFiles {
    /// The files of this machine, with all that a bridge needs of them at its start.
    ///
    /// `patience` is how long a pipe may take, `address` that of the socket that was passed, if one was.
    static func ofMachine(
        patience: Duration = .seconds(60),
        passed address: ListenAddress? = nil
    ) -> ConfigurationFiles {
        let folder = Machine.executableFolder
        var files = ConfigurationFiles.local(patience: patience)
        files.tryTLS = \.fileFaults
        files.passedAddress = address
        files.executableFolder = folder
        files.builtInPresets = { BuiltInPresets.all }
        files.memoryLimit = { .ofSystem }
        files.inspectStore = { directory throws(Unreadable) in
            do throws(StorageError) {
                return try StoreInspection(of: directory).text
            } catch {
                throw Unreadable(error.text)
            }
        }
        files.findPage = { directory throws(Unreadable) in
            do throws(StartError) {
                _ = try FoundPage(directory, executableFolder: folder)
            } catch {
                throw Unreadable(error.complaints.map(\.text).joined(separator: "; "))
            }
        }
        return files
    }

    /// What of them clients may name: the presets inside the program.
    static var ofClients: ConfigurationFiles {
        var files = ConfigurationFiles.local()
        files.builtInPresets = { BuiltInPresets.all }
        return files
    }
}
