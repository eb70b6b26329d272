internal import BridgeCore
internal import Glibc

/// Tells whether a path still leads to the same content, without reading it.
nonisolated struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    private let changed: [Int]

    /// Nil if there is no such file; symbolic links are followed.
    init?(_ path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        size = Int64(status.st_size)
        changed = [
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }
}

extension TLSSettings {
    /// Of all files that matter, those of the system's authorities included.
    nonisolated var fileIdentities: [FileIdentity?] {
        let files = [authorityFile ?? SystemAuthorities.file, certificateFile, keyFile]
        return files.map { file in file.flatMap { FileIdentity($0) } }
    }
}

extension ServerTLSSettings {
    /// Of all files that matter.
    nonisolated var fileIdentities: [FileIdentity?] {
        [certificateFile, keyFile].map { file in file.flatMap { FileIdentity($0) } }
    }
}
