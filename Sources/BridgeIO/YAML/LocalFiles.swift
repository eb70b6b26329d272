package import BridgeCore
internal import Glibc

extension ConfigurationFiles {
    /// The files of this machine; reading one blocks.
    package nonisolated static var local: ConfigurationFiles {
        ConfigurationFiles(
            read: { path, limit throws(Unreadable) in try readLocal(path, limit) },
            parse: { bytes throws(ConfigurationFaults) in try YAMLReader.read(bytes) }
        )
    }

    /// Pipes are read as well, so that a shell's `<(...)` can be given.
    private nonisolated static func readLocal(_ path: String, _ limit: Int) throws(Unreadable) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(errno) }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            guard count != 0 else { return content }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .system(errno)
            }
            content += buffer[..<count]
            guard content.count <= limit else {
                throw Unreadable("it has more than \(ByteSize(bytes: limit).text)")
            }
        }
    }
}

extension ConfigurationFiles.Unreadable {
    fileprivate nonisolated static func system(_ number: CInt) -> Self {
        guard let text = unsafe strerror(number) else { return Self("error \(number)") }
        return Self(unsafe String(cString: text).lowercased())
    }
}
