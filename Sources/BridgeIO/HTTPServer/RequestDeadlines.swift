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

        /// Whether there is nothing to be done for the client meanwhile.
        var isForRequest: Bool {
            switch self {
            case .first, .request, .next: true
            case .answer: false
            }
        }
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
    /// Those that were found to be silent for longest, the longest last; they may have done something since.
    private var silent: [(client: ClientConnection, since: Instant)] = []
    /// Before this a look for them would find none, as lately.
    private var nextLook = Instant(nanoseconds: .min)

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
        client.silentSince = nil
        guard let last = clients.popLast(), last !== client else { return }
        clients[client.place] = last
        last.place = client.place
    }

    /// The client has so long from now.
    func start(_ wait: Wait, of client: ClientConnection) {
        let deadline = now + (wait == .next ? max(RequestDeadlines.idleTimeout, timeout) : timeout)
        client.due = deadline
        // A request that comes in pieces has been owed since its first one.
        client.silentSince = wait.isForRequest ? now : nil
        if let alarm, alarm.due <= deadline { return }
        arm(deadline)
    }

    /// The client owes nothing for now.
    func cancel(_ client: ClientConnection) {
        client.due = nil
        client.silentSince = nil
    }

    // MARK: Giving up before the time

    /// Cuts off the client that has owed a request for longest, so that another one can be served: who holds connections
    /// open and asks for nothing keeps nobody out.
    ///
    /// Who has just come has some time to say what it wants.
    ///
    /// - Returns: whether there was one.
    func giveUpOne() -> Bool {
        while true {
            if silent.isEmpty, nextLook <= now {
                silent = findSilent(in: clients.lazy.filter { !$0.isCrowded })
                // A look at all of them for each that comes would be what a flood is after.
                if silent.isEmpty { nextLook = now + granularity / 16 }
            }
            guard let found = silent.popLast() else { return false }
            guard found.client.silentSince == found.since else { continue }
            giveUp(found.client)
            return true
        }
    }

    /// The same among these few.
    func giveUpOne(of few: [ClientConnection]) -> Bool {
        guard let found = findSilent(in: few).last else { return false }
        giveUp(found.client)
        return true
    }

    /// A look at all of them is worth this many.
    private static let mostFound = 64

    private func findSilent(
        in clients: some Sequence<ClientConnection>
    ) -> [(client: ClientConnection, since: Instant)] {
        var found: [(client: ClientConnection, since: Instant)] = []
        for client in clients {
            guard let since = client.silentSince, since + granularity <= now else { continue }
            let isFull = found.count == RequestDeadlines.mostFound
            if isFull, let newest = found.first, since >= newest.since { continue }
            let place = found.firstIndex { $0.since <= since } ?? found.count
            found.insert((client, since), at: place)
            if isFull { found.removeFirst() }
        }
        return found
    }

    private func giveUp(_ client: ClientConnection) {
        client.isGivenUp = true
        cut(client)
    }

    private func cut(_ client: ClientConnection) {
        client.due = nil
        client.silentSince = nil
        // The daemon owns the socket: it sees the end and closes it.
        shutdown(client.descriptor, Int32(SHUT_RDWR))
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
                cut(client)
            } else {
                next = min(next ?? due, due)
            }
        }
        alarm = nil
        if let next { arm(max(next, now + granularity)) }
    }
}
