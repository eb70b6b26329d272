internal import BridgeCore
internal import CUV
internal import Glibc

extension ListenSocket {
    /// A connection of our own to a server that listens there; nil if there is none.
    static func connection(to address: ListenAddress) -> Int32? {
        switch address {
        case .unix(let path):
            let descriptor = socket(AF_UNIX, WSB_SOCK_STREAM | WSB_SOCK_CLOEXEC, 0)
            return connected(
                descriptor,
                unsafe withUnixAddress(path) { unsafe Glibc.connect(descriptor, $0, $1) }
            )
        case .tcp(let host, let port):
            guard let target = SocketAddress(literal: host ?? "127.0.0.1", port: port) else { return nil }
            let family = target.isIPv6 ? AF_INET6 : AF_INET
            let descriptor = socket(family, WSB_SOCK_STREAM | WSB_SOCK_CLOEXEC, 0)
            let status = unsafe target.withSocketAddress { unsafe Glibc.connect(descriptor, $0, $1) }
            return connected(descriptor, status)
        }
    }

    private static func connected(_ descriptor: Int32, _ status: Int32) -> Int32? {
        guard descriptor >= 0 else { return nil }
        guard status == 0 else {
            Glibc.close(descriptor)
            return nil
        }
        return descriptor
    }
}
