internal import CZlib
internal import WebSocketProtocol

/// Inflates the messages of one connection with zlib (RFC 7692 §7.2.2).
///
/// Takes its memory at the first compressed message, so that a connection without one costs nothing.
@safe nonisolated final class Inflater: MessageInflater {
    /// What is inflated at a time before it joins the message.
    private static let chunkBytes = 32 * 1024

    private let windowBits: CInt
    private let keepsContext: Bool
    private var stream: UnsafeMutablePointer<z_stream>?
    /// A final block ended the stream exactly where the input ended: before more input it starts anew.
    private var isAtStreamEnd = false
    /// Final blocks of this message since there was any output.
    private var idleFinalBlocks = 0
    /// No honest message has more of them in a row.
    private static let mostIdleFinalBlocks = 1000

    /// Makes an inflater for a peer whose window has `windowBits` bits, 8–15.
    init(windowBits: Int, keepsContext: Bool) {
        self.windowBits = CInt(clamping: windowBits)
        self.keepsContext = keepsContext
    }

    deinit {
        guard let stream = unsafe stream else { return }
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    func inflate(
        _ input: Span<UInt8>,
        into message: inout [UInt8],
        limit: Int
    ) throws(WebSocketFailure) {
        guard !input.isEmpty else { return }
        let stream = try unsafe open()
        if isAtStreamEnd { unsafe restart(stream) }
        isAtStreamEnd = false
        var failure: WebSocketFailure?
        unsafe input.withUnsafeBufferPointer { bytes in
            unsafe stream.pointee.next_in = bytes.baseAddress
            unsafe stream.pointee.avail_in = CUnsignedInt(clamping: bytes.count)
            failure = unsafe run(stream, into: &message, limit: limit)
        }
        if let failure { throw failure }
    }

    func finishMessage(into message: inout [UInt8], limit: Int) throws(WebSocketFailure) {
        if !isAtStreamEnd {
            // §7.2.2: the tail that the sender took off.
            let tail: [4 of UInt8] = [0x00, 0x00, 0xFF, 0xFF]
            try inflate(tail.span, into: &message, limit: limit)
        }
        idleFinalBlocks = 0
        if !keepsContext, let stream = unsafe stream {
            unsafe inflateReset(stream)
            isAtStreamEnd = false
        }
    }

    private func open() throws(WebSocketFailure) -> UnsafeMutablePointer<z_stream> {
        if let stream = unsafe stream { return unsafe stream }
        let made = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe made.initialize(to: z_stream())
        let size = unsafe CInt(MemoryLayout<z_stream>.size)
        let status = unsafe inflateInit2_(made, -windowBits, ZLIB_VERSION, size)
        guard status == Z_OK else {
            unsafe made.deallocate()
            throw WebSocketFailure(1011, "no memory to inflate")
        }
        unsafe stream = made
        return unsafe made
    }

    /// Inflates all input that `stream` was given, and never more than one byte beyond `limit`.
    private func run(
        _ stream: UnsafeMutablePointer<z_stream>,
        into message: inout [UInt8],
        limit: Int
    ) -> WebSocketFailure? {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Inflater.chunkBytes) { chunk in
            while true {
                let room = min(chunk.count - 1, limit - message.count) + 1
                unsafe stream.pointee.next_out = chunk.baseAddress
                unsafe stream.pointee.avail_out = CUnsignedInt(clamping: room)
                let status = unsafe CZlib.inflate(stream, Z_SYNC_FLUSH)
                let count = unsafe room - Int(stream.pointee.avail_out)
                guard count <= limit - message.count else { return .inflatedTooBig }
                unsafe message.append(contentsOf: UnsafeBufferPointer(rebasing: chunk[..<count]))
                if count > 0 { idleFinalBlocks = 0 }
                switch status {
                case Z_OK, Z_BUF_ERROR:
                    // Room left over means that the input is used up.
                    if count < room { return nil }
                case Z_STREAM_END:
                    idleFinalBlocks += 1
                    guard idleFinalBlocks <= Inflater.mostIdleFinalBlocks else { return .notDeflate }
                    isAtStreamEnd = unsafe stream.pointee.avail_in == 0
                    if isAtStreamEnd { return nil }
                    unsafe restart(stream)
                default:
                    return .notDeflate
                }
            }
        }
    }

    /// Goes on after a final block (§7.2.3.4), keeping the window.
    ///
    /// `inflateReset` would forget it, and taking the window out and putting it back copies 64 KiB for each block
    /// of perhaps three bytes.
    private func restart(_ stream: UnsafeMutablePointer<z_stream>) {
        unsafe inflateResetKeep(stream)
    }
}
