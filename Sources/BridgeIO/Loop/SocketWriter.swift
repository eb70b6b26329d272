internal import CUV
internal import Glibc

/// Writing on the sockets of subscribers.
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
    /// Bounds what a client that stalls can hold, and has the kernel ask for one that is silent; what the socket does
    /// not know is left out.
    ///
    /// The probes find only peers that do not answer at all. A client that is slow, or stopped reading, answers
    /// them, and is not to be cut off: TCP_USER_TIMEOUT would do that. While something that was sent is not
    /// acknowledged the kernel asks in its own way, for a quarter of an hour: `hasVanished` is quicker.
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

    /// How often in a row the kernel may ask in vain; as each time it waits twice as long, that is 25 seconds at least.
    private static let unansweredAttempts: UInt8 = 7

    /// Whether a peer that is owed something, or has no room, does not answer any more.
    ///
    /// One that is slow, or stopped reading, still acknowledges what it is sent, probes for room included.
    static func hasVanished(_ descriptor: Int32) -> Bool {
        var info = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        // A unix socket has no such thing, and no network in between.
        guard unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else {
            return false
        }
        return max(info.tcpi_retransmits, info.tcpi_probes) >= unansweredAttempts
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
