internal import CUV
internal import Glibc

/// Writing on the sockets of subscribers, which libmicrohttpd owns.
enum SocketWriter {
    /// What became of a write.
    enum Outcome: Equatable {
        /// The kernel took so many bytes, maybe fewer than offered.
        case written(Int)
        /// The kernel takes nothing now.
        case blocked
        /// The peer is gone.
        case gone
    }

    /// What a reader that stalls may make the kernel hold.
    private static let sendBufferBytes: Int32 = 256 * 1024
    /// Bounds what a client that stalls can hold, and finds out when one has vanished; what the socket does not
    /// know is left out.
    ///
    /// The probes find only peers that do not answer at all. A client that is slow, or stopped reading, answers
    /// them, and is not to be cut off: TCP_USER_TIMEOUT would do that.
    static func prepare(_ descriptor: Int32) {
        set(descriptor, SOL_SOCKET, SO_SNDBUF, sendBufferBytes)
        set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, 30)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, 10)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPCNT, 3)
    }

    /// Offers `bytes` to the kernel in one system call.
    static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Outcome {
        while true {
            let flags = WSB_MSG_DONTWAIT | WSB_MSG_NOSIGNAL
            let count = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
            if count >= 0 { return .written(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .blocked
            default: return .gone
            }
        }
    }

    /// Throws away what a client sent on a stream, where nothing is expected from it.
    ///
    /// - Returns: false if it closed its side.
    static func discardInput(_ descriptor: Int32) -> Bool {
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { scrap in
            let count = unsafe recv(descriptor, scrap.baseAddress, scrap.count, WSB_MSG_DONTWAIT)
            return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))
        }
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
