package import BridgeCore
internal import CMicroHTTPD
internal import Glibc

/// libmicrohttpd on the loop: it accepts, parses and answers; what to answer its handler decides.
///
/// The daemon has no thread of its own: its epoll descriptor is polled like any other. Whoever owns the server
/// calls `runIfNeeded()` and then `prepareToWait()` in every turn, just before the loop waits.
@safe package final class HTTPServer {
    /// It owns the server.
    unowned let handler: any HTTPHandler
    package let deadlines: RequestDeadlines
    /// How the streams of HTTP/1.1 clients are written.
    package internal(set) var streamMode: StreamMode
    /// What the daemon is left with when a stream's socket is taken away from it; nil: none can be.
    let standIn = StandIn()
    let requestMemory: RequestMemory
    /// What bodies may take that are not whole yet.
    package var bodies = BodyRoom()
    /// The sockets whose clients may not have read everything yet.
    let closing: ClosingSockets

    /// Runs before anyone else is answered.
    var selfCheck: StreamSelfCheck?

    /// The requests whose answers were not known at once, until the daemon is done with them.
    var heldAnswers: [ObjectIdentifier: HeldAnswer] = [:]

    /// Answers that can be used again.
    var preparedAnswers = PreparedAnswers()
    /// What was decided about requests that may come again.
    var admissions = AdmissionMemo()
    let canvas = HeadCanvas()
    /// What became of requests.
    package internal(set) var tally = HTTPTally()

    /// Room for a request's head, which browsers send every cookie of localhost in, for what the daemon notes of each of its
    /// fields, and for the head of the answer.
    private static let connectionMemoryBytes = 32 * 1024
    let loop: Loop
    private let socket: ListenSocket
    private(set) var daemon: OpaquePointer?
    private var poll: FilePoll?
    private var timeout: (due: Instant, timer: LoopTimer)?
    /// It has work that its descriptor does not show.
    package private(set) var needsRun = false
    private var stuck = StuckRequests()
    /// Streams that have not begun yet are not begun any more.
    private(set) var isStopping = false
    let room: ConnectionRoom
    /// On which a request began last, as long as it is under way.
    var newestConnection: OpaquePointer?

    /// Nil: clients speak plain HTTP, to the daemon itself.
    private var acceptor: TLSAcceptor?

    /// How many subscribers there is room for: as many as there could be at the start, or more where others do
    /// with fewer connections.
    package let subscriberRoom: Int

    /// Starts to answer on `socket`; so many `upstreams` need descriptors as well, and streams are written in
    /// `streamMode` at best.
    ///
    /// With a `certificate` clients speak TLS.
    ///
    /// - Throws: `ListenFailure` if the daemon cannot be started.
    package init(
        loop: Loop,
        socket: ListenSocket,
        settings: HTTPSettings,
        handler: any HTTPHandler,
        upstreams: Int = 0,
        streamMode: StreamMode = .detached,
        certificate: ServerCertificate? = nil
    ) throws(ListenFailure) {
        self.loop = loop
        self.socket = socket
        self.handler = handler
        self.streamMode = streamMode
        requestMemory = RequestMemory(loop: loop)
        room = ConnectionRoom(
            loop: loop,
            subscribers: settings.maxSubscribers,
            perClient: settings.maxConnectionsPerClient,
            upstreams: upstreams,
            // Over TLS its own, and a pair in the place of that.
            descriptors: certificate == nil ? 1 : 3
        )
        closing = ClosingSockets(loop: loop, room: room)
        subscriberRoom = max(settings.maxSubscribers, room.limit - ConnectionRoom.spareConnections / 2)
        deadlines = RequestDeadlines(loop: loop, timeout: settings.requestTimeout)
        deadlines.onLate = { [unowned self] in answerLate($0) }
        // Unretained: `stop()` ends the daemon, and with it every callback, before the server goes.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let callbacks = unsafe wsbridge_callbacks(
            answer: answerRequest,
            target_read: targetRead,
            completed: requestCompleted,
            connection_changed: connectionChanged,
            may_accept: mayAccept,
            log: daemonLogged,
            context: context
        )
        unsafe daemon = wsbridge_start_daemon(
            certificate == nil ? socket.descriptor : -1,
            callbacks,
            HTTPServer.connectionMemoryBytes,
            CUnsignedInt(clamping: room.daemonLimit)
        )
        guard let daemon = unsafe daemon else { throw ListenFailure(error: "libmicrohttpd does not start") }
        let descriptor = unsafe wsbridge_epoll_descriptor(daemon)
        let poll = FilePoll(loop: loop, descriptor: descriptor) { [unowned self] _ in run() }
        poll.watch(for: .reading)
        self.poll = poll
        guard let certificate else { return }
        acceptor = TLSAcceptor(
            loop: loop,
            listener: socket.descriptor,
            certificate: certificate,
            limit: room.daemonLimit,
            presenceInterval: min(max(settings.keepAlive, .seconds(1)), .seconds(15))
        ) { [unowned self] descriptor, address in
            unsafe address.withSocketAddress { unsafe add(descriptor, from: $0, $1) }
        }
    }

    /// Gives the daemon a client's socket; if there is no room for it, that is closed.
    private func add(_ descriptor: Int32, from address: UnsafePointer<sockaddr>?, _ length: socklen_t) -> Bool
    {
        guard let daemon = unsafe daemon else {
            Glibc.close(descriptor)
            return false
        }
        deadlines.runBegins()
        return unsafe MHD_add_connection(daemon, descriptor, address, length) == .YES
    }

    /// Another client's end of a connection with the daemon, without what is between others and it; nil if there is
    /// none.
    func connectDirectly() -> Int32? {
        guard acceptor != nil else { return ListenSocket.connection(to: address) }
        guard let pair = TLSAcceptor.pair() else { return nil }
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_UNIX)
        let length = socklen_t(MemoryLayout<sa_family_t>.size)
        guard unsafe add(pair.theirs, from: &address, length) else {
            Glibc.close(pair.ours)
            return nil
        }
        return pair.ours
    }

    /// Where it really listens.
    package var address: ListenAddress { socket.address }

    // MARK: Running

    /// Something happened that the daemon does not see by itself, such as a resumed connection.
    func setNeedsRun() {
        needsRun = true
    }

    /// Runs the daemon if it has work that its descriptor does not show: something was changed behind its back,
    /// or it has read more than it has handled.
    ///
    /// - Returns: whether it ran.
    package func runIfNeeded() -> Bool {
        guard let daemon = unsafe daemon else { return false }
        guard unsafe needsRun || wsbridge_timeout(daemon) == 0 else { return false }
        run()
        return true
    }

    func run() {
        needsRun = false
        guard let daemon = unsafe daemon else { return }
        deadlines.runBegins()
        let before = unsafe wsbridge_connection_count(daemon)
        unsafe MHD_run(daemon)
        // A daemon that could accept no more looks at its listening socket again only in the run after the one in
        // which a connection ended.
        if unsafe wsbridge_connection_count(daemon) < before { needsRun = true }
        let goesOn = unsafe wsbridge_timeout(daemon) == 0
        if stuck.ran(goesOn: goesOn, at: loop.now) { endStuckRequests() }
    }

    /// Sees to it that the daemon runs when its next timeout is due.
    package func prepareToWait() {
        guard let daemon = unsafe daemon else { return }
        let milliseconds = unsafe wsbridge_timeout(daemon)
        guard milliseconds >= 0 else {
            timeout = nil
            return
        }
        let due = loop.now + .milliseconds(milliseconds)
        // A timer that fires too early costs one run; one for each turn would cost more.
        if let timeout, timeout.due <= due { return }
        let timer = loop.startTimer(after: due - loop.now) { [unowned self] in
            timeout = nil
            run()
        }
        timeout = (due, timer)
    }

    /// Answers that are owed, or on their way.
    package var heldAnswerCount: Int { heldAnswers.count }

    /// Something that was written for a client is not with the kernel yet.
    package var isOwing: Bool { acceptor?.isOwing ?? false }

    // MARK: Stopping

    /// Accepts no more connections, so that clients are refused; those that are open go on.
    package func stopAccepting() {
        guard let daemon = unsafe daemon else { return }
        isStopping = true
        if let acceptor {
            acceptor.stopAccepting()
        } else {
            // From here on the socket is ours to close, and not the daemon's.
            _ = unsafe MHD_quiesce_daemon(daemon)
        }
        socket.close()
    }

    /// Ends every connection and the daemon; idempotent.
    ///
    /// All streams must have ended and the daemon must have run since: it cannot be stopped with connections
    /// that are suspended. Answers that are still owed are asked for once more, and then given up.
    package func stop() {
        guard let daemon = unsafe daemon else { return }
        stopAccepting()
        for held in heldAnswers.values { held.endWait(isFinal: true) }
        run()
        poll = nil
        timeout = nil
        unsafe self.daemon = nil
        unsafe MHD_stop_daemon(daemon)
        closing.closeAll()
        acceptor?.closeAll()
    }
}
