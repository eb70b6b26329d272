internal import CUV

/// Accepts TCP connections on the loop; letting go of it closes the listening socket.
@safe package final class TCPListener {
    private let handle: Handle<uv_tcp_t>
    private let loop: Loop
    private let onConnection: (SocketStream) -> Void

    /// Binds `address` (port 0: any free one) and calls `onConnection` with each accepted connection.
    ///
    /// - Throws: `ListenFailure` with what the system says.
    package init(
        loop: Loop,
        address: SocketAddress,
        onConnection: @escaping (SocketStream) -> Void
    ) throws(ListenFailure) {
        self.loop = loop
        self.onConnection = onConnection
        unsafe handle = Handle { listener in unsafe uv_tcp_init(loop.pointer, listener) }
        unsafe handle.attach(self)
        var status = unsafe address.withSocketAddress { pointer, _ in
            unsafe uv_tcp_bind(handle.pointer, pointer, 0)
        }
        if status == 0 { status = unsafe uv_listen(stream, TCPListener.backlog, connectionArrived) }
        if status != 0 { throw ListenFailure(error: errorText(status)) }
    }

    private static let backlog: CInt = 128

    private var stream: UnsafeMutablePointer<uv_stream_t> {
        unsafe UnsafeMutableRawPointer(handle.pointer).assumingMemoryBound(to: uv_stream_t.self)
    }

    /// The address it listens on, with the port that the kernel chose.
    package var address: SocketAddress? {
        var storage = sockaddr_storage()
        var length = CInt(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                guard unsafe uv_tcp_getsockname(handle.pointer, name, &length) == 0 else { return nil }
                return unsafe SocketAddress(copying: name)
            }
        }
    }

    fileprivate func accept(_ status: CInt) {
        guard status == 0 else { return }
        let connection = SocketStream(loop: loop)
        guard unsafe uv_accept(stream, connection.stream) == 0 else { return }
        onConnection(connection)
    }
}

/// A listening socket could not be had.
package struct ListenFailure: Error, Equatable, Sendable {
    /// What the system says, such as "address already in use".
    package var error: String

    package init(error: String) {
        self.error = error
    }
}

private nonisolated func connectionArrived(_ listener: UnsafeMutablePointer<uv_stream_t>?, status: CInt) {
    guard let listener = unsafe owner(of: listener?.pointee.data, as: TCPListener.self) else { return }
    onLoop(with: (listener, status)) { $0.accept($1) }
}
