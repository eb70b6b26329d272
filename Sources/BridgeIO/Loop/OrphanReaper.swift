internal import Glibc

/// Waits for the processes that others have left to this one, so that they do not stay as zombies.
///
/// That is the duty of the first process of a container: what a command has started becomes its child when the
/// command ends or is killed.
@safe package final class OrphanReaper {
    private let loop: Loop
    private var watcher: SignalWatcher?
    private var sweep: LoopTimer?

    /// Nil unless this is the first process.
    package init?(loop: Loop) {
        guard getpid() == 1 else { return nil }
        self.loop = loop
        watcher = SignalWatcher(loop: loop, signal: SIGCHLD) { [unowned self] in sweepLater() }
    }

    /// When libuv has waited for those that it knows, which it is told of at the same time.
    private func sweepLater() {
        sweep = loop.startTimer(after: .zero) { [unowned self] in
            while let ended = OrphanReaper.nextEnded(), !loop.children.contains(ended) {
                waitpid(ended, nil, WNOHANG)
            }
        }
    }

    /// A child that has ended and was not waited for.
    private static func nextEnded() -> pid_t? {
        var found = unsafe siginfo_t()
        guard unsafe waitid(P_ALL, 0, &found, WEXITED | WNOHANG | WNOWAIT) == 0 else { return nil }
        let process = unsafe found._sifields._sigchld.si_pid
        return process > 0 ? process : nil
    }
}
