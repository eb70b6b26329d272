internal import CUV

/// Has the loop do something at the wish of another thread.
///
/// Rings that come before the loop gets to the first one are one. It does not keep the loop running.
@safe package final class LoopBell {
    private let handle: Handle<uv_async_t>
    /// Runs on the loop, once for all that rang since it last ran.
    package var onRing: () -> Void = {}
    /// Any thread may call it, as long as the bell is there.
    package let ring: @Sendable () -> Void

    package init(loop: Loop) {
        unsafe handle = Handle { bell in
            unsafe uv_async_init(loop.pointer, bell) { bell in
                guard let bell = unsafe owner(of: bell?.pointee.data, as: LoopBell.self) else { return }
                onLoop(with: bell) { $0.onRing() }
            }
        }
        // Sending is the one thing that libuv allows other threads.
        nonisolated(unsafe) let pointer = unsafe handle.pointer
        ring = { _ = unsafe uv_async_send(pointer) }
        unsafe handle.attach(self)
        unsafe uv_unref(handle.base)
    }
}
