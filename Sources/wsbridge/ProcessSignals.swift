internal import BridgeIO
internal import Glibc

/// The signals that a bridge lives with; those that come before the loop runs are told as soon as it does.
final class ProcessSignals {
    /// SIGTERM or SIGINT came.
    var onEnd: (Int32) -> Void = { _ in }
    /// SIGHUP came.
    var onHangUp: () -> Void = {}
    private var watchers: [SignalWatcher] = []

    init(loop: Loop) {
        watchers = [SIGTERM, SIGINT].map { number in
            SignalWatcher(loop: loop, signal: number) { [unowned self] in onEnd(number) }
        }
        watchers.append(SignalWatcher(loop: loop, signal: SIGHUP) { [unowned self] in onHangUp() })
        ProcessSignals.takeHangUps()
    }

    /// Keeps a SIGHUP waiting until `takeHangUps`: it would end a process that only reads its configuration yet.
    ///
    /// Ctrl-C is not held back: that may be a file, such as a terminal, whose end never comes.
    static func holdHangUps() { mask(SIG_BLOCK) }

    /// From now on SIGHUP does what it is to do.
    static func takeHangUps() { mask(SIG_UNBLOCK) }

    private static func mask(_ how: Int32) {
        var signals = sigset_t()
        _ = unsafe sigemptyset(&signals)
        _ = unsafe sigaddset(&signals, SIGHUP)
        _ = unsafe sigprocmask(how, &signals, nil)
    }
}
