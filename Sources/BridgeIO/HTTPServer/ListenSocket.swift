package import BridgeCore
internal import CUV
internal import Glibc

/// The bound and listening socket of the HTTP server; letting go of it closes it.
@safe package final class ListenSocket {
    package let descriptor: Int32
    /// Where it really listens: with the port that the kernel chose, or `unix:PATH`.
    package let address: ListenAddress
    private var path: UnixPath?
    private var isOpen = true

    private static let backlog: Int32 = 4096

    /// Binds `address`.
    ///
    /// A unix socket that nobody answers on any more is replaced; one that answers is an address in use, and
    /// whatever else is there stays. Its file has the permissions `mode` before anybody can connect.
    package init(_ address: ListenAddress, mode: SocketMode = .owner) throws(ListenFailure) {
        switch address {
        case .tcp(let host, let port):
            let bound = try ListenSocket.bind(host: host, port: port)
            descriptor = bound.descriptor
            self.address = .tcp(host: host == nil ? nil : bound.address.host, port: bound.address.port)
            path = nil
        case .unix(let path):
            descriptor = try ListenSocket.bind(path: path, mode: mode)
            self.address = address
            self.path = UnixPath(path)
        }
        guard listen(descriptor, ListenSocket.backlog) == 0 else {
            let failure = ListenSocket.systemFailure()
            Glibc.close(descriptor)
            throw failure
        }
    }

    /// Takes over a socket that somebody else has bound, to `address`, and that listens.
    init(_ descriptor: Int32, boundTo address: ListenAddress) {
        self.descriptor = descriptor
        self.address = address
    }

    deinit {
        if isOpen { Glibc.close(descriptor) }
    }

    /// Ends listening, and removes the path of a unix socket if it is still this one's; idempotent.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        path?.remove()
        Glibc.close(descriptor)
    }

    // MARK: TCP

    private static func bind(
        host: String?,
        port: UInt16
    ) throws(ListenFailure) -> (descriptor: Int32, address: SocketAddress) {
        var failure = ListenFailure(error: "no address found")
        for candidate in try addresses(host: host, port: port) {
            do throws(ListenFailure) {
                return try bind(candidate, acceptsBothFamilies: host == nil)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// All interfaces are IPv6's wildcard, which takes IPv4 too, or IPv4's on a machine without IPv6.
    static func addresses(host: String?, port: UInt16) throws(ListenFailure) -> [SocketAddress] {
        guard let host else {
            return ["::", "0.0.0.0"].compactMap { SocketAddress(literal: $0, port: port) }
        }
        if let literal = SocketAddress(literal: host, port: port) { return [literal] }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = WSB_SOCK_STREAM
        unsafe hints.ai_flags = AI_PASSIVE
        var list: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else { throw ListenFailure(error: unsafe String(cString: gai_strerror(status))) }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry = unsafe list
        while let current = unsafe entry {
            if let address = unsafe SocketAddress(copying: current.pointee.ai_addr) {
                addresses.append(address)
            }
            unsafe entry = current.pointee.ai_next
        }
        return addresses
    }

    private static func bind(
        _ address: SocketAddress,
        acceptsBothFamilies: Bool
    ) throws(ListenFailure) -> (descriptor: Int32, address: SocketAddress) {
        let descriptor = try open(address.isIPv6 ? AF_INET6 : AF_INET)
        set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if address.isIPv6 { set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, acceptsBothFamilies ? 0 : 1) }
        let status = unsafe address.withSocketAddress { pointer, length in
            unsafe Glibc.bind(descriptor, pointer, length)
        }
        guard status == 0, let bound = localAddress(of: descriptor) else {
            let failure = systemFailure()
            Glibc.close(descriptor)
            throw failure
        }
        return (descriptor, bound)
    }

    static func localAddress(of descriptor: Int32) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                guard unsafe getsockname(descriptor, name, &length) == 0 else { return nil }
                return unsafe SocketAddress(copying: name)
            }
        }
    }

    // MARK: System calls

    static func open(_ family: Int32) throws(ListenFailure) -> Int32 {
        let kind = WSB_SOCK_STREAM | WSB_SOCK_NONBLOCK | WSB_SOCK_CLOEXEC
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { throw systemFailure() }
        return descriptor
    }

    static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    static func systemFailure() -> ListenFailure {
        ListenFailure(error: unsafe String(cString: strerror(errno)))
    }
}
