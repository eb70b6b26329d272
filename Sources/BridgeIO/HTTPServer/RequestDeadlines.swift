internal import BridgeCore
internal import CUV
internal import Glibc

/// Closes the connections of clients that do not get their request out in time.
///
/// libmicrohttpd only counts silence, so a client that sends a byte now and then would stay for ever. A request
/// has `timeout` from its first line to the end of its body, and so has its answer to be taken; a connection that
/// waits for a next request has longer. An event stream has no deadline.
package final class RequestDeadlines {
    /// What a connection's deadline is about.
    enum Wait {
        /// The connection is new and owes a request.
        case first
        /// A request has begun.
        case request
        /// The client must take an answer.
        case answer
        /// A connection that is kept alive may idle.
        case next
    }

    /// How long a connection may idle between two requests.
    private static let idleTimeout = Duration.seconds(75)
    /// Deadlines this close together are carried out together.
    private var granularity: Duration { min(.seconds(1), timeout / 4) }

    private let loop: Loop
    /// A new one holds for what begins from now on.
    package var timeout: Duration
    private var due: [Int32: Instant] = [:]
    private var alarm: (due: Instant, timer: LoopTimer)?

    init(loop: Loop, timeout: Duration) {
        self.loop = loop
        self.timeout = timeout
    }

    /// The connection on `descriptor` has so long from now.
    func start(_ wait: Wait, descriptor: Int32) {
        let deadline = loop.now + (wait == .next ? max(RequestDeadlines.idleTimeout, timeout) : timeout)
        due[descriptor] = deadline
        if let alarm, alarm.due <= deadline { return }
        arm(deadline)
    }

    /// The connection on `descriptor` owes nothing for now, or is gone.
    func cancel(descriptor: Int32) {
        due[descriptor] = nil
    }

    private func arm(_ deadline: Instant) {
        let timer = loop.startTimer(after: deadline - loop.now) { [unowned self] in expire() }
        alarm = (deadline, timer)
    }

    private func expire() {
        let now = loop.now
        for (descriptor, deadline) in due where deadline <= now {
            due[descriptor] = nil
            // The daemon owns the socket: it sees the end and closes it.
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
        alarm = nil
        guard let next = due.values.min() else { return }
        arm(max(next, now + granularity))
    }
}
