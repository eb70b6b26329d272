internal import BridgeCore
internal import CMicroHTTPD
internal import Glibc
internal import WebSocketProtocol

// What libmicrohttpd calls. Every context is the server, which outlives its daemon; a request's own context is
// its retained `Exchange`, which `requestCompleted` releases: the daemon calls that once for each.

/// The request line is there: begins an exchange.
nonisolated func targetRead(
    _ context: UnsafeMutableRawPointer?,
    _ target: UnsafePointer<CChar>?,
    _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let server = unsafe owner(of: context, as: HTTPServer.self),
        let target = unsafe target, let connection = unsafe connection
    else { return nil }
    // As it came: what is not UTF-8 is to be refused, not mended.
    let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: target, count: strlen(target)))
    let descriptor = unsafe wsbridge_connection_descriptor(connection)
    MainActor.assumeIsolated { server.deadlines.start(.request, descriptor: descriptor) }
    return unsafe Unmanaged.passRetained(Exchange(target: bytes)).toOpaque()
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
        let connection = unsafe connection, let uploadSize = unsafe uploadSize
    else { return .NO }
    let chunk = unsafe UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)
    let isFirst = exchange.isWaitingForHead
    let head = unsafe isFirst ? requestHead(connection, exchange, path, method, version) : nil
    let goesOn = unsafe onLoop(with: (exchange, connection, chunk, head)) {
        exchange,
        connection,
        chunk,
        head in
        let step =
            if let head, let check = server.selfCheck, check.target == head.target {
                Exchange.Step.answer(check.answer, head)
            } else if let head {
                exchange.received(head, handler: server.handler)
            } else if unsafe !chunk.isEmpty {
                unsafe exchange.received(chunk)
            } else {
                exchange.completed(handler: server.handler)
            }
        return unsafe server.take(step, of: exchange, on: connection)
    }
    if head == nil { unsafe uploadSize.pointee = 0 }
    return goesOn ? .YES : .NO
}

/// The answer is out, or the connection is gone: ends the exchange.
nonisolated func requestCompleted(
    _ context: UnsafeMutableRawPointer?,
    _ connection: OpaquePointer?,
    _ exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ reason: MHD_RequestTerminationCode
) {
    guard let exchange = unsafe exchange, let retained = unsafe exchange.pointee else { return }
    let held = unsafe Unmanaged<Exchange>.fromOpaque(retained).takeRetainedValue().held
    unsafe exchange.pointee = nil
    guard let server = unsafe owner(of: context, as: HTTPServer.self), let connection = unsafe connection
    else { return }
    let descriptor = unsafe wsbridge_connection_descriptor(connection)
    MainActor.assumeIsolated {
        if let held { server.release(held) }
        server.deadlines.start(.next, descriptor: descriptor)
    }
}

/// A connection was accepted or is about to be closed.
nonisolated func connectionChanged(
    _ context: UnsafeMutableRawPointer?,
    _ connection: OpaquePointer?,
    _ ownContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ change: MHD_ConnectionNotificationCode
) {
    guard let server = unsafe owner(of: context, as: HTTPServer.self), let connection = unsafe connection
    else { return }
    let descriptor = unsafe wsbridge_connection_descriptor(connection)
    let isNew = change == .CONNECTION_NOTIFY_STARTED
    MainActor.assumeIsolated {
        if isNew {
            server.deadlines.start(.first, descriptor: descriptor)
        } else {
            server.deadlines.cancel(descriptor: descriptor)
        }
    }
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
    return unsafe onLoop(with: buffer) { buffer in unsafe stream.read(into: buffer) }
}

/// The daemon is done with a stream, which `HTTPServer` retained for it.
nonisolated func releaseStream(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    let stream = unsafe Unmanaged<EventStream>.fromOpaque(context).takeRetainedValue()
    MainActor.assumeIsolated { stream.release() }
}

// MARK: Reading a head

private nonisolated func requestHead(
    _ connection: OpaquePointer,
    _ exchange: Exchange,
    _ path: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?
) -> RequestHead {
    // All of the request line lies in one buffer, its parts separated by one NUL each. If there is more between
    // target and version, the client sent a NUL in the target, which is put back here to be refused.
    let distance = Int(bitPattern: version) - Int(bitPattern: path)
    let target = distance == exchange.target.count + 1 ? exchange.target : exchange.target + [0]
    var fields: [HTTPField] = []
    unsafe withUnsafeMutablePointer(to: &fields) { fields in
        _ = unsafe MHD_get_connection_values_n(connection, .HEADER_KIND, collectField, fields)
    }
    return unsafe RequestHead(
        method: text(method),
        target: target,
        version: text(version) == "HTTP/1.0" ? .http10 : .http11,
        fields: fields,
        client: SocketAddress(copying: wsbridge_client_address(connection)).map { .ip($0.host) } ?? .unix
    )
}

/// Appends one field to the array that `context` points to for the duration of the call.
private nonisolated func collectField(
    _ context: UnsafeMutableRawPointer?,
    _ kind: MHD_ValueKind,
    _ name: UnsafePointer<CChar>?,
    _ nameLength: Int,
    _ value: UnsafePointer<CChar>?,
    _ valueLength: Int
) -> MHD_Result {
    let name = unsafe text(UnsafeRawBufferPointer(start: name, count: nameLength))
    // The blanks in front are passed over by libmicrohttpd, those behind are not (RFC 9110 §5.5).
    var length = unsafe value == nil ? 0 : valueLength
    while length > 0, let value = unsafe value, unsafe value[length - 1] == 0x20 || value[length - 1] == 0x09
    {
        length -= 1
    }
    let value = unsafe text(UnsafeRawBufferPointer(start: value, count: length))
    unsafe context?.assumingMemoryBound(to: [HTTPField].self).pointee.append(HTTPField(name, value))
    return .YES
}

private nonisolated func text(_ bytes: UnsafeRawBufferPointer) -> String {
    unsafe String(decoding: bytes, as: UTF8.self)
}

private nonisolated func text(_ string: UnsafePointer<CChar>?) -> String {
    guard let string = unsafe string else { return "" }
    return unsafe String(cString: string)
}
