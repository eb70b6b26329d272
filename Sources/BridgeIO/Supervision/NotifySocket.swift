package import BridgeCore
internal import CUV
internal import Glibc

/// Tells whoever watches over the process how it is (sd_notify(3)).
package final class NotifySocket {
    private let descriptor: Int32
    private let path: String

    /// Tells the datagram socket at `path`, which begins with NUL if it is an abstract name; nil if the system has no
    /// descriptor left.
    package init?(_ path: String) {
        descriptor = socket(AF_UNIX, WSB_SOCK_DGRAM | WSB_SOCK_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        self.path = path
    }

    deinit { close(descriptor) }

    /// Tells it, unless nobody is there or what was told before waits to be read.
    package func tell(_ notice: ServiceNotice) {
        let bytes = [UInt8](notice.text.utf8)
        let flags = WSB_MSG_DONTWAIT | WSB_MSG_NOSIGNAL
        _ = unsafe withUnixAddress(path) { unsafe sendto(descriptor, bytes, bytes.count, flags, $0, $1) }
    }
}
