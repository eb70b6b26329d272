internal import BridgeCore
internal import CMicroHTTPD
internal import WebSocketProtocol

extension HTTPServer {
    /// Does what an exchange asks for next.
    ///
    /// - Returns: false if the connection is to be closed without an answer.
    func take(_ step: Exchange.Step, of exchange: Exchange, on connection: OpaquePointer) -> Bool {
        switch step {
        case .proceed:
            return true
        case .closeConnection:
            return false
        case .breakOff(let response):
            breakOff(exchange, with: response)
            return false
        case .demand(let held):
            return unsafe demand(held, of: exchange, on: connection)
        case .answer(let answer, let head):
            switch answer {
            case .response(let response):
                return unsafe queue(response, for: exchange, on: connection)
            case .later(let begin):
                deadlines.cancel(exchange.client)
                let held = unsafe HeldAnswer(on: connection, of: self)
                exchange.hold(held)
                heldAnswers[ObjectIdentifier(held)] = held
                begin(held)
                return unsafe demand(held, of: exchange, on: connection)
            case .stream(let fields, let open):
                deadlines.cancel(exchange.client)
                exchange.client.lastHead = nil
                return unsafe openStream(fields: fields, for: exchange, on: connection, from: head, open)
            case .pieces(let fields, let source):
                return unsafe queue(source, fields, for: exchange, on: connection, to: head)
            }
        }
    }

    private func demand(_ held: HeldAnswer, of exchange: Exchange, on connection: OpaquePointer) -> Bool {
        switch held.demand() {
        case .send(let response): unsafe queue(response, for: exchange, on: connection)
        case .close: false
        case .wait: true
        }
    }

    /// The daemon is done with a request.
    func ended(_ exchange: Exchange) {
        if let held = exchange.held {
            held.finish()
            heldAnswers[ObjectIdentifier(held)] = nil
        }
        if let prepared = exchange.prepared { preparedAnswers.putBack(prepared) }
        if !exchange.isStream { tally.ended() }
        exchange.end(room: &bodies)
        let client = exchange.client
        client.exchange = nil
        guard client.wait != .farewell else { return }
        deadlines.start(.next, of: client)
        // Those that ask once often close their side with the request.
        guard !client.wasLookedAt else { return }
        client.wasLookedAt = true
        if client.waiting == .end { client.tellOfEnd() }
    }

    private func queue(
        _ response: HTTPResponse,
        for exchange: Exchange,
        on connection: OpaquePointer
    ) -> Bool {
        deadlines.start(.answer, of: exchange.client)
        tally.answered(exchange.row, status: response.status, problem: response.problem)
        let status = CUnsignedInt(response.status)
        if let prepared = preparedAnswers.take(response) {
            exchange.use(prepared)
            return unsafe MHD_queue_response(connection, status, prepared.content) == .YES
        }
        let content = unsafe response.body.withUnsafeBytes { bytes in
            unsafe MHD_create_response_from_buffer(
                bytes.count,
                UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                .RESPMEM_MUST_COPY
            )
        }
        guard let content = unsafe content else { return false }
        defer { unsafe MHD_destroy_response(content) }
        unsafe HTTPServer.add(response.fields, to: content)
        if response.closesConnection { unsafe MHD_add_response_header(content, "Connection", "close") }
        return unsafe MHD_queue_response(connection, status, content) == .YES
    }

    private func openStream(
        fields: [HTTPField],
        for exchange: Exchange,
        on connection: OpaquePointer,
        from head: RequestHead,
        _ open: @escaping (any StreamChannel) -> Void
    ) -> Bool {
        exchange.isStream = true
        tally.ended()
        if let row = exchange.row { tally.answered(row, status: 200) }
        // HTTP/1.0 has no chunks, so bytes that are framed once for all would corrupt its stream.
        let mode = head.version == .http11 ? streamMode : .pulled
        let stream = unsafe EventStream(
            connection,
            of: self,
            client: exchange.client,
            mode: mode,
            open: open
        )
        // Balanced in `releaseStream`, which the daemon calls once.
        let context = unsafe Unmanaged.passRetained(stream).toOpaque()
        let content = unsafe MHD_create_response_from_callback(
            UInt64.max,
            mode == .pulled ? HTTPServer.pulledBlockBytes : HTTPServer.directBlockBytes,
            readStream,
            context,
            releaseStream
        )
        guard let content = unsafe content else {
            unsafe Unmanaged<EventStream>.fromOpaque(context).release()
            return false
        }
        defer { unsafe MHD_destroy_response(content) }
        unsafe HTTPServer.add(fields, to: content)
        // Its end is ours, behind the daemon's back: whoever keeps connections must not use this one again.
        unsafe MHD_add_response_header(content, "Connection", "close")
        // The daemon would end the chunks of a body that it does not send.
        if head.method == "HEAD" { unsafe wsbridge_leave_unframed(content) }
        return unsafe MHD_queue_response(connection, 200, content) == .YES
    }

    /// Allocated for each stream and never used, as the daemon is asked to send nothing.
    private static let directBlockBytes = 64
    /// What the daemon asks a pulled stream for at a time.
    private static let pulledBlockBytes = 16 * 1024

    nonisolated static func add(_ fields: [HTTPField], to content: OpaquePointer) {
        for field in fields { unsafe MHD_add_response_header(content, field.name, field.value) }
    }
}
