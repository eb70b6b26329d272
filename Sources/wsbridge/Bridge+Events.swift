internal import BridgeCore
internal import BridgeIO

/// Receiving: streams, polling, and who is subscribed.
extension Bridge {
    /// The stream of these connections, or with a `scope` of all that it covers as they come and go.
    func events(
        of names: [String],
        in scope: ConnectionScope? = nil,
        _ query: EventsQuery,
        _ request: AdmittedRequest,
        from head: RequestHead
    ) throws(Problem) -> HTTPAnswer {
        guard shutdown == nil else { throw .bridgeStopping }
        let indices = try names.map { name throws(Problem) in try connection(name).index }
        let shape = query.subscription(to: ConnectionSelection(indices), at: loop.wallTime).shape
        do throws(Problem) {
            try checkRoom()
            try checkRoom(hub.hasRoom(for: shape))
        } catch {
            return .response(StreamRefusal.response(error, to: head, query.format).adding(request.fields))
        }
        let fields = HTTPResponse.streamFields(query.format) + request.fields
        // To HEAD the head is the whole answer, and the stream is never opened.
        return .stream(fields: fields) { [self] channel in
            // Connections and rights may have come and gone since the request was there.
            guard gate.stillKnows(request.caller, sessions: sessions) else { return channel.end() }
            let names = scope.map { scope in connectionNames.filter(scope.covers).sorted() } ?? names
            let sources = names.compactMap { name in connections[name].map { (name, $0) } }
            guard !sources.isEmpty else { return channel.end() }
            subscribe(channel, to: sources, in: scope, query, for: request.caller, at: head.client)
        }
    }

    private func subscribe(
        _ channel: any StreamChannel,
        to sources: [(name: String, connection: BridgedConnection)],
        in scope: ConnectionScope?,
        _ query: EventsQuery,
        for caller: Caller,
        at client: ClientAddress
    ) {
        let now = loop.wallTime
        // With one that is still closing, too, whose last records are still to come.
        let selection = scope.map(hub.selection) ?? ConnectionSelection(sources.map(\.connection.index))
        var wishes = query.subscription(to: selection, at: now)
        wishes.scope = scope
        wishes.caller = caller
        hub.subscribe(channel, wishes, from: client) { encoder, bytes in
            guard query.choice.types.contains(.status) else { return }
            for (name, connection) in sources {
                encoder.appendSnapshot(of: name, at: now, to: &bytes) { connection.writeStatus(to: &$0) }
            }
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
        let patience = request.isHead || shutdown != nil ? .zero : query.wait ?? .zero
        var allowance = SearchAllowance()
        let isThrough = poll.read(hub.log, &allowance) == .through
        guard !isThrough || !poll.hasFound && patience > .zero else {
            return .response(answer(poll.page(hub.log), request))
        }
        try checkRoom()
        try checkRoom(hub.hasRoom(forPollsOf: poll.filter))
        return .later { [self, poll] held in
            let waiting = hub.wait(poll, for: patience, by: request.caller) { [self] page in
                let unreadable = HTTPResponse(.historyUnreadable).adding(request.fields)
                held.give(page.map { answer($0, request) } ?? unreadable)
            }
            held.onLastCall = { [hub] in hub.answer(waiting) }
        }
    }

    private func answer(_ page: PollPage, _ request: AdmittedRequest) -> HTTPResponse {
        json(request) { page.writeMembers(to: &$0, log: hub.log) }
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

    private func checkRoom(_ hasFilters: Bool) throws(Problem) {
        guard hasFilters else {
            throw .tooManyFilters(limit: configuration.http.maxFilters, retryAfter: configuration.http.retry)
        }
    }

    /// Tells that streams are not written in the best way, unless that is what was asked for.
    func warn(of mode: StreamMode) {
        guard mode != configuration.streamMode else { return }
        switch mode {
        case .detached: break
        case .suspended:
            log.warning(
                "streams take more memory than they could: libmicrohttpd does not let go of their connections"
            )
        case .pulled:
            log.warning(
                "streams are slower than they could be: libmicrohttpd does not let them be written to"
            )
        }
    }
}
