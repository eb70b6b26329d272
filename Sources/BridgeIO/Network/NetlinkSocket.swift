internal import CNetlink
internal import CUV
internal import Glibc

/// A socket to the kernel's routing tables (`rtnetlink(7)`), which never blocks; letting go of it closes it.
@safe final class NetlinkSocket {
    /// What one read brought.
    enum Arrival {
        case datagram([UInt8])
        case nothing
        /// The kernel had more to say than the socket holds: something was missed.
        case overrun
        case failed(errno: Int32)
    }

    private let socket: OpaquePointer
    private var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferBytes)
    /// The kernel writes no longer datagram than this (NLMSG_GOODSIZE and its like).
    private static let bufferBytes = 32 * 1024

    /// Opens one that hears of changes of links, addresses, routes and rules, or of nothing but answers.
    init(hearsNews: Bool) throws(NetworkFailure) {
        let flags = WSB_SOCK_CLOEXEC | WSB_SOCK_NONBLOCK
        guard let socket = unsafe mnl_socket_open2(NETLINK_ROUTE, flags) else {
            throw NetworkFailure(errno: errno)
        }
        unsafe self.socket = socket
        let groups = hearsNews ? NetlinkSocket.newsGroups : 0
        guard unsafe mnl_socket_bind(socket, groups, 0) == 0 else {
            let code = errno
            unsafe mnl_socket_close(socket)
            throw NetworkFailure(errno: code)
        }
        guard hearsNews else { return }
        // Beyond the 32 groups that a bind can name. Kernels before 5.3 have none.
        var group = CUnsignedInt(RTNLGRP_NEXTHOP.rawValue)
        let size = socklen_t(MemoryLayout<CUnsignedInt>.size)
        _ = unsafe mnl_socket_setsockopt(socket, NETLINK_ADD_MEMBERSHIP, &group, size)
    }

    isolated deinit {
        unsafe mnl_socket_close(socket)
    }

    private static let newsGroups = [
        RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_IFADDR,
        RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV6_RULE,
    ].reduce(CUnsignedInt(0)) { $0 | 1 << ($1.rawValue - 1) }

    var descriptor: Int32 { unsafe mnl_socket_get_fd(socket) }

    /// Sends a request; the kernel handles it before this returns.
    func send(_ request: [UInt8]) -> Bool {
        unsafe request.withUnsafeBytes { bytes in
            unsafe mnl_socket_sendto(socket, bytes.baseAddress, bytes.count) == bytes.count
        }
    }

    func receive() -> Arrival {
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe mnl_socket_recvfrom(socket, bytes.baseAddress, bytes.count)
            }
            guard count < 0 else { return .datagram(Array(buffer.prefix(count))) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .nothing
            // ENOSPC is libmnl's word for a datagram that was cut off.
            case ENOBUFS, ENOSPC: return .overrun
            case let code: return .failed(errno: code)
            }
        }
    }
}

/// The network cannot be watched here.
package struct NetworkFailure: Error, Equatable, Sendable {
    /// What the system says, such as "operation not permitted".
    package var error: String

    init(errno code: Int32) {
        error = unsafe String(cString: strerror(code))
    }

    init(_ error: String) {
        self.error = error
    }
}
