internal import BridgeCore
internal import CUV
internal import Glibc

extension ListenSocket {
    /// Takes over the socket that whoever started the process has passed to it; its file, if it has one, is theirs.
    ///
    /// - Throws: why it cannot be listened on.
    package convenience init(passed descriptor: Int32) throws(ListenFailure) {
        guard fcntl(descriptor, F_GETFD) >= 0 else {
            throw ListenFailure(error: "descriptor \(descriptor) is not open")
        }
        guard let kind = ListenSocket.option(SO_TYPE, of: descriptor) else {
            throw ListenFailure(error: "descriptor \(descriptor) is not a socket")
        }
        guard kind == WSB_SOCK_STREAM else {
            throw ListenFailure(error: "descriptor \(descriptor) is not a stream socket (ListenStream=)")
        }
        guard ListenSocket.option(SO_ACCEPTCONN, of: descriptor) == 1 else {
            throw ListenFailure(error: "descriptor \(descriptor) does not listen (Accept=no)")
        }
        guard let address = ListenSocket.address(of: descriptor) else {
            throw ListenFailure(error: "descriptor \(descriptor) is neither an IP socket nor a unix one")
        }
        // Programs that are started do not get it.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        self.init(descriptor, boundTo: address)
    }

    private static func option(_ option: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 ? value : nil
    }

    private static func address(of descriptor: Int32) -> ListenAddress? {
        if let bound = localAddress(of: descriptor) { return .tcp(host: bound.host, port: bound.port) }
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard status == 0, Int32(address.sun_family) == AF_UNIX else { return nil }
        let start = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        let path = unsafe withUnsafeBytes(of: address.sun_path) { field in
            unsafe Array(field.prefix(max(0, Int(length) - start)))
        }
        // A path ends with NUL, an abstract name begins with one.
        let isAbstract = path.first == 0
        return .unix(
            path: String(decoding: isAbstract ? path : Array(path.prefix { $0 != 0 }), as: UTF8.self)
        )
    }
}
