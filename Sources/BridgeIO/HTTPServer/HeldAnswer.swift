package import BridgeCore
internal import CMicroHTTPD

/// The answer to one request, which its owner gives later, once.
///
/// Until then the connection is suspended in libmicrohttpd: nothing is read from it, so requests that follow wait
/// in the kernel, and no deadline of the server's applies: the owner sees to it that an answer comes in time.
@safe package final class HeldAnswer {
    private enum Progress {
        /// The request may be answered without having to wait. Becomes answered or suspended.
        case fresh
        /// The connection is suspended. Becomes answered or abandoned.
        case suspended(FilePoll?)
        /// The answer is there; the daemon may not have taken it yet. Becomes over.
        case answered(HTTPResponse)
        /// There will be none: the connection is to be closed. Becomes over.
        case abandoned
        /// The daemon is done with the request.
        case over
    }

    /// There is no more time: the client closed its sending side, or the server stops.
    ///
    /// A client may wait for its answer after that all the same, so the owner gives the best one it has, now; an
    /// owner that gives none has the connection closed.
    package var onLastCall: () -> Void = {}
    /// The owner will answer by itself, though the client closed its sending side.
    private var isPromised = false

    private let connection: OpaquePointer
    private let server: HTTPServer
    private var progress = Progress.fresh

    // Let go of on the loop alone; to make sure of it would cost as much as a lock.
    nonisolated deinit {}

    init(on connection: OpaquePointer, of server: HTTPServer) {
        unsafe self.connection = connection
        self.server = server
    }

    /// Gives the answer; without effect if there is one already, or nobody to take it.
    package func give(_ response: HTTPResponse) {
        switch progress {
        case .fresh:
            progress = .answered(response)
        case .suspended(let watch):
            watch?.stop()
            progress = .answered(response)
            resume()
        case .answered, .abandoned, .over:
            break
        }
        onLastCall = {}
    }

    /// The answer will come by itself, and soon: there is no last call for it, or none after the one that this is said in.
    ///
    /// A server that stops does not wait for it.
    package func promise() { isPromised = true }

    // MARK: For the server

    /// What the daemon is to do when it asks for the answer.
    enum Ruling {
        case send(HTTPResponse)
        case close
        case wait
    }

    /// The daemon wants the answer, in the call in which the request was complete or in one after a resumption.
    func demand() -> Ruling {
        switch progress {
        case .fresh where server.isStopping:
            onLastCall()
            // A daemon that stops must have no suspended connection.
            return answer.map(Ruling.send) ?? .close
        case .fresh:
            suspend()
            return .wait
        case .suspended:
            return .wait
        case .answered(let response):
            return .send(response)
        case .abandoned, .over:
            return .close
        }
    }

    /// Asks for the answer one last time, and closes the connection if there is none, and none is promised.
    func endWait(isFinal: Bool = false) {
        guard case .suspended(let watch) = progress else { return }
        // The end of a stream does not pass: it would be reported again in every turn.
        watch?.stop()
        onLastCall()
        guard case .suspended = progress, isFinal || !isPromised else { return }
        progress = .abandoned
        onLastCall = {}
        // Without a timeout the daemon does not reap it while an older connection stays open.
        unsafe wsbridge_set_timeout(connection, 1)
        resume()
    }

    /// The daemon is done with the request; the connection may be closed at any moment.
    func finish() {
        if case .suspended(let watch) = progress { watch?.stop() }
        progress = .over
        onLastCall = {}
    }

    private var answer: HTTPResponse? {
        if case .answered(let response) = progress { response } else { nil }
    }

    private func suspend() {
        unsafe MHD_suspend_connection(connection)
        // What comes by itself, and soon, comes to whoever is there then.
        guard !isPromised else {
            progress = .suspended(nil)
            return
        }
        let descriptor = unsafe wsbridge_connection_descriptor(connection)
        // A suspended connection does not notice that its client left.
        let watch = FilePoll(loop: server.loop, descriptor: descriptor) { [unowned self] _ in endWait() }
        watch.watch(for: .hangUp)
        progress = .suspended(watch)
    }

    private func resume() {
        unsafe MHD_resume_connection(connection)
        server.setNeedsRun()
    }
}
