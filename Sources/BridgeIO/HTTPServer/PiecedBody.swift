internal import BridgeCore
internal import CMicroHTTPD
internal import WebSocketProtocol

/// A body that libmicrohttpd asks for as fast as its client takes it.
@safe final class PiecedBody {
    private let source: any BodySource
    private var rest: ArraySlice<UInt8> = []

    init(_ source: any BodySource) {
        self.source = source
    }

    /// Fills the buffer; returns how much of it, or that this was the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        while filled < buffer.count {
            if rest.isEmpty {
                guard let piece = source.next() else { break }
                rest = piece[...]
            }
            let part = rest.prefix(buffer.count - filled)
            unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyBytes(from: part)
            filled += part.count
            rest = rest.dropFirst(part.count)
        }
        // `MHD_CONTENT_READER_END_OF_STREAM`; zero would mean that more comes later.
        return filled > 0 ? filled : -1
    }
}

extension HTTPServer {
    /// What is made at a time where there are no chunks; where there are, the daemon decides.
    private static let blockBytes = 16 * 1024

    func queue(
        _ source: any BodySource,
        _ fields: [HTTPField],
        for exchange: Exchange,
        on connection: OpaquePointer,
        to head: RequestHead
    ) -> Bool {
        deadlines.start(.answer, of: exchange.client)
        tally.answered(exchange.row, status: 200)
        // Balanced in `releasePieces`, which the daemon calls once.
        let context = unsafe Unmanaged.passRetained(PiecedBody(source)).toOpaque()
        let content = unsafe MHD_create_response_from_callback(
            UInt64.max,
            HTTPServer.blockBytes,
            readPieces,
            context,
            releasePieces
        )
        guard let content = unsafe content else {
            unsafe Unmanaged<PiecedBody>.fromOpaque(context).release()
            return false
        }
        defer { unsafe MHD_destroy_response(content) }
        unsafe HTTPServer.add(fields, to: content)
        if head.method == "HEAD" {
            // The daemon would end the chunks of a body that it does not send.
            unsafe wsbridge_leave_unframed(content)
            unsafe MHD_add_response_header(content, "Connection", "close")
        }
        return unsafe MHD_queue_response(connection, 200, content) == .YES
    }
}

/// The client can take more.
private nonisolated func readPieces(
    _ context: UnsafeMutableRawPointer?,
    _ position: UInt64,
    _ buffer: UnsafeMutablePointer<CChar>?,
    _ capacity: Int
) -> Int {
    // `MHD_CONTENT_READER_END_WITH_ERROR`
    guard let body = unsafe owner(of: context, as: PiecedBody.self) else { return -2 }
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: capacity)
    return unsafe onLoop(with: (body, buffer)) { body, buffer in unsafe body.read(into: buffer) }
}

/// The daemon is done with the body, which `HTTPServer` retained for it.
private nonisolated func releasePieces(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    let body = unsafe Unmanaged<PiecedBody>.fromOpaque(context).takeRetainedValue()
    // What it has belongs to the loop, where this is called.
    onLoop(with: body) { _ in }
}
