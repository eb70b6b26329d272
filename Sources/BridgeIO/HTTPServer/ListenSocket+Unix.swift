internal import BridgeCore
internal import CUV
internal import Glibc

/// Sockets in the file system.
extension ListenSocket {
    static func bind(path: String, mode: SocketMode) throws(ListenFailure) -> Int32 {
        if let existing = UnixPath(path) {
            guard existing.isSocket else { throw ListenFailure(error: "the path exists and is not a socket") }
            if isStale(path) { existing.remove() }
        }
        let descriptor = try open(AF_UNIX)
        // So that the file is at no time more open than it is to be; the umask takes from this, hence the second step.
        fchmod(descriptor, mode_t(mode.bits))
        let status = unsafe withUnixAddress(path) { unsafe Glibc.bind(descriptor, $0, $1) }
        guard status == 0, unsafe chmod(path, mode_t(mode.bits)) == 0 else {
            let failure = status != 0 && errno == ENOENT ? missingFolder(of: path) : systemFailure()
            Glibc.close(descriptor)
            throw failure
        }
        return descriptor
    }

    /// Whether `path` is a socket on which nobody listens.
    private static func isStale(_ path: String) -> Bool {
        guard let probe = try? open(AF_UNIX) else { return false }
        defer { Glibc.close(probe) }
        return unsafe withUnixAddress(path) { unsafe connect(probe, $0, $1) } != 0 && errno == ECONNREFUSED
    }

    private static func missingFolder(of path: String) -> ListenFailure {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return ListenFailure(error: "there is no folder \(folder.joined(separator: "/"))")
    }
}

/// Lends the address of the unix socket at `path`, which must fit (see `ListenAddress`).
func withUnixAddress<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result
{
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var length = MemoryLayout<sockaddr_un>.size
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
        unsafe field.copyBytes(from: path.utf8.prefix(field.count - 1))
        // An abstract name is as long as it is; a path ends with a NUL.
        if path.utf8.first == 0 { length -= field.count - min(path.utf8.count, field.count - 1) }
    }
    return unsafe withUnsafePointer(to: address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            unsafe body(pointer, socklen_t(length))
        }
    }
}
