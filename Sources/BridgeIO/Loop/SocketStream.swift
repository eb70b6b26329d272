internal import CUV
internal import Glibc

/// A connection over TCP or a unix socket, on the loop; letting go of it closes the socket, and nothing is reported afterwards.
///
/// Set the closures before `connect` or `startReading`. None of them is called from within a call into the
/// stream, so a caller need not expect to be reentered.
@safe package final class SocketStream {
    /// What came in, lent for the duration of the call.
    package var onReceive: (Span<UInt8>) -> Void = { _ in }
    /// The peer sent its last byte (nil), or the connection broke; nothing comes after it.
    ///
    /// Comes once. While reading is stopped, only a write that fails shows that the connection broke.
    package var onEnd: (String?) -> Void = { _ in }
    /// The kernel took all that `write` left over.
    package var onDrain: () -> Void = {}

    /// What the connection runs over.
    package enum Kind: Sendable {
        case tcp
        case unix
    }

    // A union of libuv's handles: which one it is, `kind` said at the start.
    private let handle: Handle<uv_any_handle>
    private let loop: Loop
    private var isReading = false
    private var hasEnded = false

    package init(loop: Loop, kind: Kind = .tcp) {
        self.loop = loop
        unsafe handle = Handle { memory in
            let raw = UnsafeMutableRawPointer(memory)
            return switch kind {
            case .tcp: unsafe uv_tcp_init(loop.pointer, raw.assumingMemoryBound(to: uv_tcp_t.self))
            case .unix: unsafe uv_pipe_init(loop.pointer, raw.assumingMemoryBound(to: uv_pipe_t.self), 0)
            }
        }
        unsafe handle.attach(self)
    }

    var stream: UnsafeMutablePointer<uv_stream_t> {
        unsafe UnsafeMutableRawPointer(handle.pointer).assumingMemoryBound(to: uv_stream_t.self)
    }

    /// For calls that are made of TCP alone.
    private var tcp: UnsafeMutablePointer<uv_tcp_t> {
        unsafe UnsafeMutableRawPointer(handle.pointer).assumingMemoryBound(to: uv_tcp_t.self)
    }

    private var pipe: UnsafeMutablePointer<uv_pipe_t> {
        unsafe UnsafeMutableRawPointer(handle.pointer).assumingMemoryBound(to: uv_pipe_t.self)
    }

    // MARK: Connecting

    /// Dials `address`; `completion` gets nil once connected, else what the system says.
    package func connect(to address: SocketAddress, _ completion: @escaping (String?) -> Void) {
        let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
        // Balanced in the callback, which libuv calls exactly once, also when the handle is closed before.
        let box = unsafe Unmanaged.passRetained(Completion(completion)).toOpaque()
        unsafe request.pointee.data = box
        let status = unsafe address.withSocketAddress { pointer, _ in
            unsafe uv_tcp_connect(request, tcp, pointer, connected)
        }
        guard status != 0 else { return }
        unsafe Unmanaged<Completion>.fromOpaque(box).release()
        unsafe request.deallocate()
        refusal = loop.startTimer(after: .zero) { completion(errorText(status)) }
    }

    /// Dials the unix socket at `path`, of at most 107 bytes; `completion` as above.
    package func connect(toSocketAt path: String, _ completion: @escaping (String?) -> Void) {
        let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
        // Balanced in the callback, which libuv always calls, here even when it refuses at once.
        unsafe request.pointee.data = Unmanaged.passRetained(Completion(completion)).toOpaque()
        unsafe uv_pipe_connect(request, pipe, path, connected)
    }

    /// Reports a connect that was refused at once on a later turn.
    private var refusal: LoopTimer?

    /// Sends small writes at once instead of waiting for an acknowledgement (TCP_NODELAY).
    package func disableDelay() {
        unsafe uv_tcp_nodelay(tcp, 1)
    }

    /// Lets the kernel probe a peer that said nothing for so long (SO_KEEPALIVE, TCP_KEEPIDLE).
    package func probePeer(after seconds: CUnsignedInt) {
        unsafe uv_tcp_keepalive(tcp, 1, seconds)
    }

    /// Leaves what the kernel would only queue for later, beyond so many bytes, to `write` (TCP_NOTSENT_LOWAT).
    ///
    /// What waits here can still be overtaken or taken back; what waits there cannot.
    package func limitUnsent(bytes: CInt) {
        var number: CInt = -1
        guard unsafe uv_fileno(handle.base, &number) == 0 else { return }
        var limit = bytes
        let size = socklen_t(MemoryLayout<CInt>.size)
        // Without it all works, only that a ping waits for longer.
        _ = unsafe setsockopt(number, CInt(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &limit, size)
    }

    // MARK: Reading

    /// Begins, or begins again, to report what comes in.
    package func startReading() {
        guard !hasEnded else { return }
        isReading = true
        unsafe uv_read_start(stream, lendReadBuffer, readReported)
    }

    /// Leaves what comes in to the kernel's buffer, so that the peer slows down.
    package func stopReading() {
        isReading = false
        unsafe uv_read_stop(stream)
    }

    fileprivate func received(_ count: Int) {
        if count > 0 {
            onReceive(unsafe UnsafeBufferPointer(rebasing: loop.readBuffer[..<count]).span)
        } else if count < 0 {
            end(count == Int(UV_EOF.rawValue) ? nil : errorText(CInt(truncatingIfNeeded: count)))
        }
    }

    private func end(_ error: String?) {
        guard !hasEnded else { return }
        stopReading()
        hasEnded = true
        onEnd(error)
    }

    // MARK: Writing

    /// Bytes that `write` accepted and the kernel did not take yet.
    package var unwrittenBytes: Int { unsafe uv_stream_get_write_queue_size(stream) }

    /// Gives `bytes` to the kernel in one system call; what it does not take now follows by itself.
    ///
    /// - Returns: whether the kernel took everything now; if not, `onDrain` tells when it did.
    package func write(_ bytes: [UInt8]) -> Bool {
        guard !bytes.isEmpty else { return unwrittenBytes == 0 }
        let taken = unsafe bytes.withUnsafeBytes { buffer in
            var view = unsafe uv_buf_t(lent: buffer)
            return unsafe Int(uv_try_write(stream, &view, 1))
        }
        if taken == bytes.count { return true }
        // An error other than "try again" breaks the connection, and shows again when the rest is written.
        queue(bytes, from: max(taken, 0))
        return false
    }

    private func queue(_ bytes: [UInt8], from offset: Int) {
        let request = WriteRequest(bytes, from: offset)
        // Balanced in the callback, which libuv calls exactly once, also when the handle is closed before.
        unsafe request.pointer.pointee.data = Unmanaged.passRetained(request).toOpaque()
        let status = unsafe uv_write(request.pointer, stream, &request.view, 1, wrote)
        if status != 0 { unsafe Unmanaged.passUnretained(request).release() }
    }

    fileprivate func drained(_ status: CInt) {
        if status == 0 {
            if unwrittenBytes == 0 { onDrain() }
        } else if !isReading {
            // Else the read side reports it, after what the peer still had to say.
            end(errorText(status))
        }
    }

    /// Sends the peer the end of our bytes (FIN) once all that was written is out.
    package func shutdownWriting() {
        let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
        let status = unsafe uv_shutdown(request, stream) { request, _ in unsafe request?.deallocate() }
        if status != 0 { unsafe request.deallocate() }
    }
}

/// What a connect request carries until libuv calls back.
private final class Completion {
    let body: (String?) -> Void

    init(_ body: @escaping (String?) -> Void) {
        self.body = body
    }
}

/// The memory of a queued write: the request and the bytes, which libuv refers to until it calls back.
@safe private nonisolated final class WriteRequest {
    let pointer: UnsafeMutablePointer<uv_write_t>
    var view: uv_buf_t
    private let bytes: UnsafeMutableRawBufferPointer

    init(_ source: [UInt8], from offset: Int) {
        unsafe pointer = .allocate(capacity: 1)
        unsafe bytes = .allocate(byteCount: source.count - offset, alignment: 1)
        unsafe bytes.copyBytes(from: source[offset...])
        unsafe view = uv_buf_t(lent: UnsafeRawBufferPointer(bytes))
    }

    deinit {
        unsafe pointer.deallocate()
        unsafe bytes.deallocate()
    }
}

extension uv_buf_t {
    /// A view of `bytes`, valid as long as they are; libuv takes it mutable and only reads for writes.
    nonisolated init(lent bytes: UnsafeRawBufferPointer) {
        let base = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        let count = CUnsignedInt(clamping: bytes.count)
        unsafe self = uv_buf_init(base?.assumingMemoryBound(to: CChar.self), count)
    }
}

private nonisolated func connected(_ request: UnsafeMutablePointer<uv_connect_t>?, status: CInt) {
    guard let request = unsafe request, let data = unsafe request.pointee.data else { return }
    let completion = unsafe Unmanaged<Completion>.fromOpaque(data).takeRetainedValue()
    let isOwned = unsafe request.pointee.handle?.pointee.data != nil
    unsafe request.deallocate()
    guard isOwned else { return }
    onLoop(with: (completion, status)) { $0.body($1 == 0 ? nil : errorText($1)) }
}

private nonisolated func lendReadBuffer(
    _ handle: UnsafeMutablePointer<uv_handle_t>?,
    suggested: Int,
    buffer: UnsafeMutablePointer<uv_buf_t>?
) {
    guard let memory = unsafe handle?.pointee.loop.pointee.data else { return }
    unsafe buffer?.pointee = uv_buf_init(memory.assumingMemoryBound(to: CChar.self), Loop.readBufferBytes)
}

private nonisolated func readReported(
    _ stream: UnsafeMutablePointer<uv_stream_t>?,
    count: Int,
    buffer: UnsafePointer<uv_buf_t>?
) {
    guard let stream = unsafe owner(of: stream?.pointee.data, as: SocketStream.self) else { return }
    onLoop(with: (stream, count)) { $0.received($1) }
}

private nonisolated func wrote(_ request: UnsafeMutablePointer<uv_write_t>?, status: CInt) {
    guard let request = unsafe request, let data = unsafe request.pointee.data else { return }
    let stream = unsafe owner(of: request.pointee.handle?.pointee.data, as: SocketStream.self)
    unsafe Unmanaged<WriteRequest>.fromOpaque(data).release()
    onLoop(with: (stream, status)) { $0?.drained($1) }
}
