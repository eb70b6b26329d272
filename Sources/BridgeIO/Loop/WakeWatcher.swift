internal import BridgeCore
internal import CUV
internal import Glibc

/// Tells when the process goes on after it was stopped (SIGSTOP), or the machine after it slept.
///
/// Costs nothing meanwhile. Where the kernel does not tell of sleep, only the signal is noticed.
package final class WakeWatcher {
    private let onWake: () -> Void
    private var gauge = SleepGauge(
        sinceBoot: WakeWatcher.time(CLOCK_BOOTTIME),
        awake: WakeWatcher.time(CLOCK_MONOTONIC)
    )
    private var signal: SignalWatcher?
    private var clockChange: FilePoll?
    /// A timer that never comes due and that the kernel cancels whenever the time of day jumps, as it does when the
    /// machine wakes up; below zero where there is none.
    private let descriptor: CInt

    package init(loop: Loop, onWake: @escaping () -> Void) {
        self.onWake = onWake
        // The time of day, since no other clock's jumps are told of; it is not read.
        descriptor = timerfd_create(CLOCK_REALTIME, CInt(TFD_NONBLOCK | TFD_CLOEXEC))
        signal = SignalWatcher(loop: loop, signal: SIGCONT) { [weak self] in
            self?.look()
            self?.onWake()
        }
        guard descriptor >= 0 else { return }
        arm()
        let poll = FilePoll(loop: loop, descriptor: descriptor) { [weak self] _ in self?.clockJumped() }
        poll.watch(for: .reading)
        poll.unref()
        clockChange = poll
    }

    isolated deinit {
        clockChange = nil
        if descriptor >= 0 { close(descriptor) }
    }

    private func clockJumped() {
        arm()
        if look() { onWake() }
    }

    /// Whether the machine slept since the last look.
    @discardableResult private func look() -> Bool {
        gauge.hasSlept(
            sinceBoot: WakeWatcher.time(CLOCK_BOOTTIME),
            awake: WakeWatcher.time(CLOCK_MONOTONIC)
        )
    }

    /// Setting the timer anew also takes back that it was cancelled.
    private func arm() {
        var never = itimerspec()
        never.it_value.tv_sec = .max
        let flags = CInt(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
        _ = unsafe timerfd_settime(descriptor, flags, &never, nil)
    }

    private static func time(_ clock: clockid_t) -> Duration {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
