internal import CZlib
internal import WebSocketProtocol

/// Deflates the messages of one connection with zlib (RFC 7692 §7.2.1).
///
/// Takes its memory at the first message, so that a connection that only listens costs nothing.
@safe nonisolated final class Deflater: MessageDeflater {
    /// What is deflated at a time before it joins the output.
    private static let chunkBytes = 16 * 1024
    /// Messages are compressed while others wait: speed before size.
    private static let level = Z_BEST_SPEED
    /// zlib's own default: 128 KiB beside the window's 128.
    private static let memoryLevel: CInt = 8

    private let windowBits: CInt
    private let keepsContext: Bool
    private var stream: UnsafeMutablePointer<z_stream>?

    /// Makes a deflater for a window of `windowBits` bits, 8–15.
    ///
    /// zlib has no raw window of 8 bits, so with that one all messages go out as they are, which §6.1 allows.
    init(windowBits: Int, keepsContext: Bool) {
        self.windowBits = CInt(clamping: windowBits)
        self.keepsContext = keepsContext
    }

    deinit {
        guard let stream = unsafe stream else { return }
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    func deflate(_ message: Span<UInt8>, into output: inout [UInt8]) -> Bool {
        guard windowBits > 8, !message.isEmpty, message.count <= Int(CUnsignedInt.max) else { return false }
        guard let stream = unsafe open() else { return false }
        let start = output.count
        unsafe message.withUnsafeBufferPointer { bytes in
            unsafe stream.pointee.next_in = bytes.baseAddress
            unsafe stream.pointee.avail_in = CUnsignedInt(bytes.count)
            unsafe run(stream, into: &output)
        }
        // §7.2.1: the empty block at the end is not sent.
        assert(output.count >= start + 4 && output.suffix(4).elementsEqual([0x00, 0x00, 0xFF, 0xFF]))
        output.removeLast(4)
        if !keepsContext { unsafe deflateReset(stream) }
        return true
    }

    /// Nil when there is no memory: the message then goes out as it is.
    private func open() -> UnsafeMutablePointer<z_stream>? {
        if let stream = unsafe stream { return unsafe stream }
        let made = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe made.initialize(to: z_stream())
        let status = unsafe deflateInit2_(
            made,
            Deflater.level,
            Z_DEFLATED,
            -windowBits,
            Deflater.memoryLevel,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            CInt(MemoryLayout<z_stream>.size)
        )
        guard status == Z_OK else {
            unsafe made.deallocate()
            return nil
        }
        unsafe stream = made
        return unsafe made
    }

    private func run(_ stream: UnsafeMutablePointer<z_stream>, into output: inout [UInt8]) {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Deflater.chunkBytes) { chunk in
            repeat {
                unsafe stream.pointee.next_out = chunk.baseAddress
                unsafe stream.pointee.avail_out = CUnsignedInt(chunk.count)
                unsafe CZlib.deflate(stream, Z_SYNC_FLUSH)
                let count = unsafe chunk.count - Int(stream.pointee.avail_out)
                unsafe output.append(contentsOf: UnsafeBufferPointer(rebasing: chunk[..<count]))
                // A full chunk may hide more of the flush.
            } while unsafe stream.pointee.avail_out == 0
        }
    }
}
