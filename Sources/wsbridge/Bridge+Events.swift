internal import BridgeCore
internal import BridgeIO

/// Receiving: streams, polling, and who is subscribed.
extension Bridge {
    func events(
        of names: [String],
        _ query: EventsQuery,
        _ request: AdmittedRequest,
        from head: RequestHead
    ) throws(Problem) -> HTTPAnswer {
        guard shutdown == nil else { throw .bridgeStopping }
        let sources = try names.map { name throws(Problem) in (name: name, connection: try connection(name)) }
        let selection = ConnectionSelection(sources.map(\.connection.index))
        let shape = query.subscription(to: selection, at: loop.wallTime).shape
        do throws(Problem) {
            try checkRoom()
            try checkRoom(for: shape)
        } catch {
            return .response(StreamRefusal.response(error, to: head, query.format).adding(request.fields))
        }
        let fields = HTTPResponse.streamFields(query.format) + request.fields
        // As a stream it would end with a chunk, which to a HEAD request is no part of the answer.
        guard !request.isHead else { return .response(HTTPResponse(status: 200, exactly: fields)) }
        return .stream(fields: fields) { [hub, loop] channel in
            let now = loop.wallTime
            hub.subscribe(
                channel,
                query.subscription(to: selection, at: now),
                from: head.client,
                opening: { encoder, bytes in
                    guard query.types.contains(.status) else { return }
                    for (name, connection) in sources {
                        encoder.appendSnapshot(of: name, at: now, to: &bytes) {
                            connection.writeStatus(to: &$0)
                        }
                    }
                }
            )
        }
    }

    func poll(_ name: String, _ query: PollQuery, _ request: AdmittedRequest) throws(Problem) -> HTTPAnswer {
        let connection = try connection(name)
        hub.expire()
        var poll = Poll(
            query.filter(of: connection.index),
            limit: query.limit,
            start: query.position(at: loop.wallTime),
            in: hub.log
        )
        let page = poll.read(hub.log)
        guard page.isEmpty, let patience = query.wait, patience > .zero, shutdown == nil, !request.isHead
        else {
            return .response(json(request) { page.writeMembers(to: &$0, log: hub.log) })
        }
        try checkRoom()
        return .later { [self, poll] held in
            let waiting = hub.wait(poll, for: patience) { [self] page in
                held.give(json(request) { page.writeMembers(to: &$0, log: hub.log) })
            }
            held.onLastCall = { [hub] in hub.answer(waiting) }
        }
    }

    func subscribers(of name: String, _ request: AdmittedRequest) throws(Problem) -> HTTPResponse {
        let connection = try connection(name)
        return json(request) { json in
            json.member("subscribers") { json in
                json.array { hub.writeSubscribers(of: connection.index, to: &$0) }
            }
        }
    }

    private func checkRoom() throws(Problem) {
        let limit = configuration.http.maxSubscribers
        guard hub.readerCount < limit else {
            throw .tooManySubscribers(limit: limit, retryAfter: configuration.http.retry)
        }
    }

    private func checkRoom(for shape: StreamShape) throws(Problem) {
        guard hub.hasRoom(for: shape) else {
            throw .tooManyFilters(limit: configuration.http.maxFilters, retryAfter: configuration.http.retry)
        }
    }
}
