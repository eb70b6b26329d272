internal import BridgeCore
internal import Glibc

/// Closes the connections of clients that do not get their request out in time.
///
/// libmicrohttpd only counts silence, so a client that sends a byte now and then would stay for ever. A request
/// has `timeout` from its first line to the end of its body, and so has its answer to be taken; a connection that
/// waits for a next request has longer. An event stream has no deadline.
///
/// Nor does the library notice each client that closes its side, so those that are waited for are looked at now and then.
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
        /// The client was told that it is too late, and may read that.
        case farewell

        /// Whether there is nothing to be done for the client meanwhile.
        var isForRequest: Bool {
            switch self {
            case .first, .request, .next, .farewell: true
            case .answer: false
            }
        }
    }

    /// How long a connection may idle between two requests.
    private static let idleTimeout = Duration.seconds(75)
    /// How long a client may take to close its side once it was told that it is too late.
    private static let farewellTime = Duration.seconds(5)
    /// So long after a wait began is the first look whether the client has closed its side.
    ///
    /// Those that are busy never get there, and each look is as late again as the one before, so those that idle cost next
    /// to nothing.
    private static let firstLook = Duration.seconds(1)
    /// Deadlines this close together are carried out together.
    private var granularity: Duration { min(.seconds(1), timeout / 4) }

    /// Answers a client whose request is not there in time; returns whether there was anything to answer.
    var onLate: (ClientConnection) -> Bool = { _ in false }

    private let loop: Loop
    /// A new one holds for what begins from now on.
    package var timeout: Duration
    /// The time as of the daemon's latest run: what happens in one happens at once.
    private var now: Instant
    /// All that are open, in no order.
    private var clients: [ClientConnection] = []
    var all: [ClientConnection] { clients }
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
        client.wait = wait
        var deadline = now + time(for: wait)
        client.due = deadline
        // A request that comes in pieces has been owed since its first one.
        if wait != .farewell { client.silentSince = wait.isForRequest ? now : nil }
        client.look = nil
        if wait.isForRequest {
            let look = now + RequestDeadlines.firstLook
            client.look = look
            deadline = min(deadline, look)
        }
        if let alarm, alarm.due <= deadline { return }
        arm(deadline)
    }

    private func time(for wait: Wait) -> Duration {
        switch wait {
        case .first, .request, .answer: timeout
        case .next: max(RequestDeadlines.idleTimeout, timeout)
        case .farewell: RequestDeadlines.farewellTime
        }
    }

    /// The client owes nothing for now.
    func cancel(_ client: ClientConnection) {
        client.due = nil
        client.look = nil
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
        cancel(client)
        client.isCut = true
        // The daemon owns the socket: it sees the end and closes it.
        shutdown(client.descriptor, Int32(SHUT_RDWR))
    }

    private func arm(_ deadline: Instant) {
        let timer = loop.startTimer(after: deadline - loop.now) { [unowned self] in expire() }
        alarm = (deadline, timer)
    }

    private func expire() {
        now = loop.now
        var next: Instant?
        for client in clients {
            if let due = client.due, due <= now { end(client) }
            if let look = client.look, look <= now { self.look(at: client) }
            for instant in [client.due, client.look] {
                if let instant { next = min(next ?? instant, instant) }
            }
        }
        alarm = nil
        if let next { arm(max(next, now + granularity)) }
    }

    /// The client's time is over.
    private func end(_ client: ClientConnection) {
        guard client.wait == .request, onLate(client) else { return cut(client) }
        start(.farewell, of: client)
    }

    private func look(at client: ClientConnection) {
        client.look = client.silentSince.map { now + max(now - $0, RequestDeadlines.firstLook) }
        if client.waiting == .end { client.tellOfEnd() }
    }
}
