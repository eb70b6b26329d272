internal import BridgeCore
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
    /// The time as of the daemon's latest run: what happens in one happens at once.
    private var now: Instant
    /// All that are open, in no order.
    private var clients: [ClientConnection] = []
    private var alarm: (due: Instant, timer: LoopTimer)?

    init(loop: Loop, timeout: Duration) {
        self.loop = loop
        self.timeout = timeout
        now = loop.now
    }

    /// The daemon is about to run.
    func runBegins() {
        now = loop.now
    }

    /// A client was accepted.
    func add(_ client: ClientConnection) {
        client.place = clients.count
        clients.append(client)
        start(.first, of: client)
    }

    /// A client is gone.
    func remove(_ client: ClientConnection) {
        guard let last = clients.popLast(), last !== client else { return }
        clients[client.place] = last
        last.place = client.place
    }

    /// The client has so long from now.
    func start(_ wait: Wait, of client: ClientConnection) {
        let deadline = now + (wait == .next ? max(RequestDeadlines.idleTimeout, timeout) : timeout)
        client.due = deadline
        if let alarm, alarm.due <= deadline { return }
        arm(deadline)
    }

    /// The client owes nothing for now.
    func cancel(_ client: ClientConnection) {
        client.due = nil
    }

    private func arm(_ deadline: Instant) {
        let timer = loop.startTimer(after: deadline - loop.now) { [unowned self] in expire() }
        alarm = (deadline, timer)
    }

    private func expire() {
        let now = loop.now
        var next: Instant?
        for client in clients {
            guard let due = client.due else { continue }
            if due <= now {
                client.due = nil
                // The daemon owns the socket: it sees the end and closes it.
                shutdown(client.descriptor, Int32(SHUT_RDWR))
            } else {
                next = min(next ?? due, due)
            }
        }
        alarm = nil
        if let next { arm(max(next, now + granularity)) }
    }
}
