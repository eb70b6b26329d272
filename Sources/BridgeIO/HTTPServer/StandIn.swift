internal import CMicroHTTPD
internal import Glibc

/// A descriptor that leads nowhere, to be left in the place of one that is taken away.
///
/// Whatever is done to it, even shutting it down, reaches nobody.
@safe final class StandIn {
    private let descriptor: Int32

    /// Nil if the system has no descriptor left.
    init?() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC))
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Makes `other`, which is open, a duplicate of this one; the connection that it was stays open if there is another
    /// descriptor of it.
    ///
    /// - Returns: false if the system refuses.
    func take(thePlaceOf other: Int32) -> Bool {
        guard dup2(descriptor, other) == other else { return false }
        _ = fcntl(other, F_SETFD, FD_CLOEXEC)
        return true
    }
}
