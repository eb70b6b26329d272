internal import CUV
internal import Glibc

/// Has the loop do something at the wish of another thread.
///
/// Rings that come before the loop gets to the first one are one. It does not keep the loop running.
///
/// A descriptor of its own, not `uv_async_t`: where the loop wakes on the core of the thread that rang, before
/// that has left `uv_async_send`, libuv spins a thousand times and then yields.
@safe package final class LoopBell {
    /// Counts rings; the thread that rings writes to it.
    private let descriptor: CInt
    private var poll: FilePoll?
    /// Runs on the loop, once for all that rang since it last ran.
    package var onRing: () -> Void = {}
    /// Any thread may call it, as long as the bell is there.
    package let ring: @Sendable () -> Void

    package init(loop: Loop) {
        let descriptor = eventfd(0, WSB_EFD_CLOEXEC | WSB_EFD_NONBLOCK)
        precondition(descriptor >= 0, "there is no descriptor for a bell")
        self.descriptor = descriptor
        ring = {
            var one: UInt64 = 1
            // What cannot be added to the count, since that is full, has rung already.
            _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
        }
        let poll = FilePoll(loop: loop, descriptor: descriptor) { [unowned self] _ in heard() }
        poll.watch(for: .reading)
        poll.unref()
        self.poll = poll
    }

    isolated deinit {
        poll = nil
        close(descriptor)
    }

    private func heard() {
        var rings: UInt64 = 0
        // Before it is looked what there is: a ring from here on is another one.
        _ = unsafe read(descriptor, &rings, MemoryLayout<UInt64>.size)
        onRing()
    }
}
