/// Writes at the end of a turn of the loop what was sent to upstreams in it, in one system call for each.
///
/// One serves all connections. A turn ends twice: before the loop waits, for what timers sent, and after the
/// input was handled.
package final class FlushRound {
    private var waiting: [ManagedConnection] = []
    private var beforeWaiting: BeforeWaiting?
    private var afterInput: AfterInput?

    package init(loop: Loop) {
        beforeWaiting = BeforeWaiting(loop: loop) { [weak self] in self?.flush() }
        afterInput = AfterInput(loop: loop) { [weak self] in self?.flush() }
    }

    /// Flushes this connection at the end of the turn; again and again is as good as once.
    func schedule(_ connection: ManagedConnection) {
        guard !connection.isFlushScheduled else { return }
        connection.isFlushScheduled = true
        waiting.append(connection)
    }

    /// Ends the turn early, for whoever sends after the hooks ran.
    package func flush() {
        // A flush that was taken whole may make room for more of an outbox, which goes out in this round too.
        var next = 0
        while next < waiting.count {
            let connection = waiting[next]
            connection.isFlushScheduled = false
            connection.flush()
            next += 1
        }
        waiting.removeAll(keepingCapacity: true)
    }
}
