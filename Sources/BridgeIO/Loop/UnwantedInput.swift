internal import CUV
internal import Glibc

/// What comes on a socket that nothing is expected on.
enum UnwantedInput {
    /// Throws away some of it; whoever watches the socket is told again while there is more.
    ///
    /// - Returns: false if the peer has closed its side, or is gone.
    static func discard(_ descriptor: Int32) -> Bool {
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { scrap in
            let count = unsafe recv(descriptor, scrap.baseAddress, scrap.count, WSB_MSG_DONTWAIT)
            return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))
        }
    }
}
