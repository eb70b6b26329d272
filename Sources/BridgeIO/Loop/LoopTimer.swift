internal import BridgeCore
internal import CUV

/// A one-shot timer of the loop; letting go of it cancels it.
@safe package final class LoopTimer {
    private let handle: Handle<uv_timer_t>
    private let body: () -> Void

    fileprivate init(loop: Loop, delay: Duration, body: @escaping () -> Void) {
        self.body = body
        unsafe handle = Handle { timer in unsafe uv_timer_init(loop.pointer, timer) }
        unsafe handle.attach(self)
        // The loop's idea of now is as old as its turn, and libuv counts whole milliseconds from it: refreshed
        // and rounded up, a timer never fires early. No delay means the next turn.
        unsafe uv_update_time(loop.pointer)
        let milliseconds = delay <= .zero ? 0 : UInt64(clamping: delay.milliseconds) + 1
        let status = unsafe uv_timer_start(handle.pointer, timerFired, milliseconds, 0)
        precondition(status == 0, "libuv cannot start a timer: \(errorText(status))")
    }

    /// Keeps the timer from firing; idempotent.
    package func cancel() {
        unsafe uv_timer_stop(handle.pointer)
    }

    fileprivate func fire() { body() }
}

private nonisolated func timerFired(_ timer: UnsafeMutablePointer<uv_timer_t>?) {
    guard let timer = unsafe owner(of: timer?.pointee.data, as: LoopTimer.self) else { return }
    onLoop(with: timer) { $0.fire() }
}

extension Loop {
    /// Runs `body` once, at least `delay` from now, unless the timer is cancelled or let go of before.
    package func startTimer(after delay: Duration, _ body: @escaping () -> Void) -> LoopTimer {
        LoopTimer(loop: self, delay: delay, body: body)
    }
}
