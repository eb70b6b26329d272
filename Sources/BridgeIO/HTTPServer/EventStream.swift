internal import BridgeCore
internal import CMicroHTTPD
internal import Glibc

/// The connection of an answer without end, as libmicrohttpd has it.
///
/// Where the daemon has suspended the connection for good its owner writes on the descriptor (*direct*).
/// Elsewhere, for HTTP/1.0 and where the start-up check failed, the daemon asks for bytes (*pulled*). Where it can be,
/// the socket is taken away from the daemon before the stream is opened, as a `DetachedStream`.
@safe final class EventStream: StreamChannel {
    private let connection: OpaquePointer
    private let server: HTTPServer
    private let client: ClientConnection
    private let mode: StreamMode
    private var open: ((any StreamChannel) -> Void)?
    private weak var source: (any StreamSource)?
    private var isSuspended = false
    private var hasEnded = false
    /// The socket under another number, from the end on: what the daemon closes then is not the last of it.
    private var rest: Int32?

    init(
        _ connection: OpaquePointer,
        of server: HTTPServer,
        client: ClientConnection,
        mode: StreamMode,
        open: @escaping (any StreamChannel) -> Void
    ) {
        unsafe self.connection = connection
        self.server = server
        self.client = client
        self.mode = mode
        self.open = open
    }

    var delivery: StreamDelivery { mode == .pulled ? .pulled : .direct }

    var descriptor: Int32 { unsafe wsbridge_connection_descriptor(connection) }

    func attach(_ source: any StreamSource) { self.source = source }

    func wake() {
        guard delivery == .pulled else { return }
        resume()
    }

    func end() {
        guard !hasEnded else { return }
        keepSocket()
        conclude()
    }

    /// Has the daemon close the connection.
    private func conclude() {
        hasEnded = true
        // An ended connection is only reaped once its timeout is looked at, which the daemon does not do
        // while an older connection stays open without one.
        unsafe wsbridge_set_timeout(connection, 1)
        resume()
    }

    /// Sees to it that the socket is there when the daemon has closed it, until the client has everything.
    private func keepSocket() {
        guard rest == nil else { return }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        // Where none is left, a client that still sends may be reset, as it would be by any other server.
        guard copy >= 0 else { return }
        rest = copy
        client.hasOwnSocket = true
    }

    private func resume() {
        guard isSuspended else { return }
        isSuspended = false
        unsafe MHD_resume_connection(connection)
        server.setNeedsRun()
    }

    private func suspend() {
        guard !isSuspended else { return }
        isSuspended = true
        unsafe MHD_suspend_connection(connection)
    }

    /// The daemon can send: fills its buffer, suspends the connection, or ends it.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if let open, !server.isStopping {
            self.open = nil
            if let detached = detach() {
                open(detached)
                return EventStream.nothingNow
            }
            let wasSuspended = isSuspended
            open(self)
            if delivery == .direct, !hasEnded { suspend() }
            if wasSuspended || isSuspended { return EventStream.nothingNow }
        }
        guard delivery == .pulled, !hasEnded, let source else { return EventStream.endOfConnection }
        switch source.pull(buffer.count) {
        case .bytes(let bytes):
            unsafe buffer.copyBytes(from: bytes)
            return bytes.count
        case .nothing:
            suspend()
            return EventStream.nothingNow
        case .end:
            keepSocket()
            return EventStream.endOfBody
        case .abort:
            return EventStream.endOfConnection
        }
    }

    /// Takes the socket away from the daemon, which closes another descriptor in its place; nil if that is not possible.
    private func detach() -> DetachedStream? {
        guard mode == .detached, let standIn = server.standIn else { return nil }
        let descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        // A suspended connection's descriptor is in no set of the daemon's, so it can be exchanged.
        suspend()
        guard standIn.take(thePlaceOf: self.descriptor) else {
            close(descriptor)
            return nil
        }
        conclude()
        let stream = DetachedStream(descriptor, from: client.address, of: server)
        client.detached = stream
        client.hasOwnSocket = true
        server.requestMemory.becomesFree()
        return stream
    }

    /// The daemon let go of the connection.
    func release() {
        open = nil
        source?.channelIsGone()
        source = nil
        // It has been written to for the last time, whichever way that was.
        if let rest { server.closing.close(rest, of: client.address) }
        rest = nil
    }

    private static let nothingNow = 0
    /// `MHD_CONTENT_READER_END_OF_STREAM`.
    private static let endOfBody = -1
    /// `MHD_CONTENT_READER_END_WITH_ERROR`: closes the connection without a word.
    private static let endOfConnection = -2
}
