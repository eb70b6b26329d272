internal import CUV

/// Turns a signal of the process into a call on the loop; letting go of it restores the default.
@safe package final class SignalWatcher {
    private let handle: Handle<uv_signal_t>
    private let body: () -> Void

    package init(loop: Loop, signal: Int32, _ body: @escaping () -> Void) {
        self.body = body
        unsafe handle = Handle { watcher in unsafe uv_signal_init(loop.pointer, watcher) }
        unsafe handle.attach(self)
        let status = unsafe uv_signal_start(handle.pointer, signalReceived, signal)
        precondition(status == 0, "libuv cannot watch signal \(signal): \(errorText(status))")
        unsafe uv_unref(handle.base)
    }

    fileprivate func fire() { body() }
}

private nonisolated func signalReceived(_ watcher: UnsafeMutablePointer<uv_signal_t>?, number: CInt) {
    guard let watcher = unsafe owner(of: watcher?.pointee.data, as: SignalWatcher.self) else { return }
    onLoop(with: watcher) { $0.fire() }
}
