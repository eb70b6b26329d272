internal import BridgeCore
internal import CMicroHTTPD
internal import Glibc

// What libmicrohttpd calls. Every context is the server, which outlives its daemon; a request's own context is
// its retained `Exchange`, which `requestCompleted` releases: the daemon calls that once for each.

/// The request line is there: begins an exchange.
nonisolated func targetRead(
    _ context: UnsafeMutableRawPointer?,
    _ target: UnsafePointer<CChar>?,
    _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let server = unsafe owner(of: context, as: HTTPServer.self),
        let target = unsafe target, let connection = unsafe connection,
        let client = unsafe owner(of: wsbridge_connection_context(connection), as: ClientConnection.self)
    else { return nil }
    // As it came: what is not UTF-8 is to be refused, not mended.
    let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: target, count: strlen(target)))
    unsafe CookieStop.stop(connection)
    let exchange = Exchange(target: bytes, client: client)
    unsafe onLoop(with: (server, exchange, connection)) { server, exchange, connection in
        exchange.client.exchange = exchange
        exchange.client.maySendMore = true
        server.deadlines.start(.request, of: exchange.client)
        server.tally.began()
        unsafe server.newestConnection = connection
    }
    return unsafe Unmanaged.passRetained(exchange).toOpaque()
}

/// The head is there, then each part of the body, then its end.
nonisolated func answerRequest(
    _ context: UnsafeMutableRawPointer?,
    _ connection: OpaquePointer?,
    _ path: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?,
    _ upload: UnsafePointer<CChar>?,
    _ uploadSize: UnsafeMutablePointer<Int>?,
    _ exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let server = unsafe owner(of: context, as: HTTPServer.self),
        let exchange = unsafe owner(of: exchange?.pointee, as: Exchange.self),
        let connection = unsafe connection, let uploadSize = unsafe uploadSize,
        let path = unsafe path, let method = unsafe method, let version = unsafe version
    else { return .NO }
    let chunk = unsafe UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)
    let isFirst = exchange.isWaitingForHead
    let goesOn =
        if isFirst {
            unsafe onLoop(
                with: (
                    server, exchange, connection,
                    ReceivedHead(
                        connection,
                        from: exchange.client.address,
                        target: exchange.target,
                        path: path,
                        method: method,
                        version: version
                    )
                )
            ) { server, exchange, connection, head in
                unsafe server.take(server.received(head, for: exchange), of: exchange, on: connection)
            }
        } else if unsafe !chunk.isEmpty {
            unsafe onLoop(with: (server, exchange, connection, chunk)) {
                server,
                exchange,
                connection,
                chunk in
                let step = unsafe exchange.received(chunk, room: &server.bodies)
                return unsafe server.take(step, of: exchange, on: connection)
            }
        } else {
            unsafe onLoop(with: (server, exchange, connection)) { server, exchange, connection in
                unsafe server.take(exchange.completed(handler: server.handler), of: exchange, on: connection)
            }
        }
    if !isFirst { unsafe uploadSize.pointee = 0 }
    return goesOn ? .YES : .NO
}

/// The answer is out, or the connection is gone: ends the exchange.
nonisolated func requestCompleted(
    _ context: UnsafeMutableRawPointer?,
    _ connection: OpaquePointer?,
    _ exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ reason: MHD_RequestTerminationCode
) {
    guard let slot = unsafe exchange, let retained = unsafe slot.pointee else { return }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(retained).takeRetainedValue()
    unsafe slot.pointee = nil
    guard let server = unsafe owner(of: context, as: HTTPServer.self) else { return }
    unsafe onLoop(with: (server, exchange, connection)) { server, exchange, connection in
        // Its fields go with it, long before the end of the connection is told.
        if unsafe server.newestConnection == connection { unsafe server.newestConnection = nil }
        server.ended(exchange)
    }
}

/// A connection was accepted or is about to be closed.
nonisolated func connectionChanged(
    _ context: UnsafeMutableRawPointer?,
    _ connection: OpaquePointer?,
    _ client: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ change: MHD_ConnectionNotificationCode
) {
    guard let server = unsafe owner(of: context, as: HTTPServer.self), let connection = unsafe connection,
        let slot = unsafe client
    else { return }
    if change == .CONNECTION_NOTIFY_STARTED {
        // Released below: the daemon tells of the end of each connection once.
        unsafe slot.pointee = unsafe onLoop(with: (server, connection)) { server, connection in
            let client = unsafe ClientConnection(connection)
            server.deadlines.add(client)
            server.room.opened(client, deadlines: server.deadlines, closing: server.closing)
            return unsafe Unmanaged.passRetained(client).toOpaque()
        }
    } else if let retained = unsafe slot.pointee {
        let client = unsafe Unmanaged<ClientConnection>.fromOpaque(retained).takeRetainedValue()
        unsafe slot.pointee = nil
        unsafe onLoop(with: (server, client, connection)) { server, client, connection in
            server.deadlines.remove(client)
            client.detached?.isForgotten = true
            if !client.hasOwnSocket, !server.lingers(client) { server.room.closed(client.address) }
            server.room.left(client)
            if unsafe server.newestConnection == connection { unsafe server.newestConnection = nil }
        }
    }
}

/// A client connects.
nonisolated func mayAccept(
    _ context: UnsafeMutableRawPointer?,
    _ address: UnsafePointer<sockaddr>?,
    _ length: socklen_t
) -> MHD_Result {
    guard let server = unsafe owner(of: context, as: HTTPServer.self) else { return .NO }
    return unsafe onLoop(with: (server, address)) { server, address in
        server.room.admitsAnother(from: { unsafe ClientAddress(address) }, closing: server.closing)
    } ? .YES : .NO
}

/// A stream's client can take bytes.
nonisolated func readStream(
    _ context: UnsafeMutableRawPointer?,
    _ position: UInt64,
    _ buffer: UnsafeMutablePointer<CChar>?,
    _ capacity: Int
) -> Int {
    guard let stream = unsafe owner(of: context, as: EventStream.self) else { return -1 }
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: capacity)
    return unsafe onLoop(with: (stream, buffer)) { stream, buffer in unsafe stream.read(into: buffer) }
}

/// The daemon is done with a stream, which `HTTPServer` retained for it.
nonisolated func releaseStream(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    let stream = unsafe Unmanaged<EventStream>.fromOpaque(context).takeRetainedValue()
    onLoop(with: stream) { $0.release() }
}
