internal import BridgeCore
internal import CMicroHTTPD

/// The connection of an answer without end, as libmicrohttpd has it.
///
/// Where the daemon has suspended the connection for good its owner writes on the descriptor (*direct*).
/// Elsewhere, for HTTP/1.0 and where the start-up check failed, the daemon asks for bytes (*pulled*).
@safe final class EventStream: StreamChannel {
    let delivery: StreamDelivery
    var onPull: (Int) -> StreamPull = { _ in .end }
    var onGone: () -> Void = {}

    private let connection: OpaquePointer
    private let server: HTTPServer
    private var open: ((EventStream) -> Void)?
    private var isSuspended = false
    private var hasEnded = false

    init(
        _ connection: OpaquePointer,
        of server: HTTPServer,
        delivery: StreamDelivery,
        open: @escaping (EventStream) -> Void
    ) {
        unsafe self.connection = connection
        self.server = server
        self.delivery = delivery
        self.open = open
    }

    var descriptor: Int32 { unsafe wsbridge_connection_descriptor(connection) }

    func wake() {
        guard delivery == .pulled else { return }
        resume()
    }

    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        // An ended connection is only reaped once its timeout is looked at, which the daemon does not do
        // while an older connection stays open without one.
        unsafe wsbridge_set_timeout(connection, 1)
        resume()
    }

    private func resume() {
        guard isSuspended else { return }
        isSuspended = false
        unsafe MHD_resume_connection(connection)
        server.setNeedsRun()
    }

    private func suspend() -> Int {
        isSuspended = true
        unsafe MHD_suspend_connection(connection)
        return 0
    }

    /// The daemon can send: fills its buffer, suspends the connection, or ends it.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if let open, !server.isStopping {
            self.open = nil
            open(self)
            if delivery == .direct, !hasEnded { return suspend() }
        }
        guard delivery == .pulled, !hasEnded else { return EventStream.endOfConnection }
        switch onPull(buffer.count) {
        case .bytes(let bytes):
            unsafe buffer.copyBytes(from: bytes)
            return bytes.count
        case .nothing:
            return suspend()
        case .end:
            return EventStream.endOfBody
        case .abort:
            return EventStream.endOfConnection
        }
    }

    /// The daemon let go of the connection.
    func release() {
        let gone = onGone
        open = nil
        onPull = { _ in .end }
        onGone = {}
        gone()
    }

    /// `MHD_CONTENT_READER_END_OF_STREAM`.
    private static let endOfBody = -1
    /// `MHD_CONTENT_READER_END_WITH_ERROR`: closes the connection without a word.
    private static let endOfConnection = -2
}
