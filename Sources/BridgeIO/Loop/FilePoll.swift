internal import CUV

/// Watches a descriptor that somebody else owns and closes.
///
/// Let go of it, or call `stop()`, before the descriptor is closed: the kernel gives its number to the next
/// one at once.
@safe package final class FilePoll {
    /// What to watch for, and what has come.
    package struct Interest: OptionSet, Sendable {
        package let rawValue: Int32

        package init(rawValue: Int32) {
            self.rawValue = rawValue
        }

        package static let reading = Interest(rawValue: Int32(UV_READABLE.rawValue))
        package static let writing = Interest(rawValue: Int32(UV_WRITABLE.rawValue))
        /// The peer closed its sending side, or the connection is gone.
        package static let hangUp = Interest(rawValue: Int32(UV_DISCONNECT.rawValue))
    }

    private let handle: Handle<uv_poll_t>
    private let body: (Interest) -> Void

    /// Calls `body` with what has come; an error on the descriptor is reported as `hangUp`.
    package init(loop: Loop, descriptor: Int32, _ body: @escaping (Interest) -> Void) {
        self.body = body
        unsafe handle = Handle { poll in unsafe uv_poll_init(loop.pointer, poll, descriptor) }
        unsafe handle.attach(self)
    }

    /// Watches for `interest` from now on, instead of what was watched for before.
    package func watch(for interest: Interest) {
        let status = unsafe uv_poll_start(handle.pointer, interest.rawValue, pollReported)
        precondition(status == 0, "libuv cannot watch a descriptor: \(errorText(status))")
    }

    /// Watches for nothing; idempotent.
    package func stop() {
        unsafe uv_poll_stop(handle.pointer)
    }

    /// From now on it does not keep the loop running.
    func unref() {
        unsafe uv_unref(handle.base)
    }

    fileprivate func report(status: CInt, events: CInt) {
        body(status < 0 ? .hangUp : Interest(rawValue: events))
    }
}

private nonisolated func pollReported(_ poll: UnsafeMutablePointer<uv_poll_t>?, status: CInt, events: CInt) {
    guard let poll = unsafe owner(of: poll?.pointee.data, as: FilePoll.self) else { return }
    onLoop(with: (poll, status, events)) { $0.report(status: $1, events: $2) }
}
