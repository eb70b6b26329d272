package import BridgeCore

extension MemoryLimit {
    /// What the system lets the process use, read anew each time; nil where it does not tell.
    package nonisolated static var ofSystem: MemoryLimit? {
        MemoryLimit { path in
            do throws(ConfigurationFiles.Unreadable) {
                return try LocalFile(path).content(limit: longestSystemFile, patience: .seconds(1))
            } catch {
                return nil
            }
        }
    }

    private nonisolated static let longestSystemFile = 64 * 1024
}
