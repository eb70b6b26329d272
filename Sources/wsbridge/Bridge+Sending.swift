internal import BridgeCore
internal import BridgeIO

/// What is to be sent: `/messages` and `/outbox`, and whether it can be: `/readyz`.
extension Bridge {
    func send(
        _ order: SendRequest,
        body: [UInt8],
        to name: String,
        _ request: AdmittedRequest
    ) throws(Problem) -> HTTPAnswer {
        guard shutdown == nil else { throw .bridgeStopping }
        return try connection(name).sender.send(order, body: body, fields: request.fields)
    }

    func request(
        _ order: ReplyRequest,
        body: [UInt8],
        to name: String,
        _ request: AdmittedRequest
    ) throws(Problem) -> HTTPAnswer {
        guard shutdown == nil else { throw .bridgeStopping }
        let connection = try connection(name)
        return try connection.requester.request(
            order,
            body: body,
            settings: connection.requestSettings,
            fields: request.fields
        )
    }

    // MARK: The outbox

    func outbox(of name: String, _ request: AdmittedRequest) throws(Problem) -> HTTPResponse {
        let upstream = try connection(name).upstream
        return json(request) { json in
            json.member("messages") { json in
                json.array { json in
                    for content in upstream.waiting {
                        let queuedAt = upstream.message(content.id)?.queuedAt
                        json.element { $0.object { content.writeMembers(queuedAt: queuedAt, to: &$0) } }
                    }
                }
            }
        }
    }

    func dropOutbox(of name: String, _ request: AdmittedRequest) throws(Problem) -> HTTPAnswer {
        let count = try connection(name).upstream.dropMessages()
        return onceStored(json(request) { $0.member("dropped", count) }, request)
    }

    func message(_ text: String, of name: String, _ request: AdmittedRequest) throws(Problem) -> HTTPResponse
    {
        let (id, entry) = try known(text, in: try connection(name).upstream)
        return json(request) { entry.writeMembers(of: id, to: &$0) }
    }

    func dropMessage(
        _ text: String,
        of name: String,
        _ request: AdmittedRequest
    ) throws(Problem) -> HTTPAnswer {
        let upstream = try connection(name).upstream
        let (id, _) = try known(text, in: upstream)
        let count = upstream.dropMessage(id) ? 1 : 0
        return onceStored(json(request) { $0.member("dropped", count) }, request)
    }

    private func known(
        _ text: String,
        in upstream: ManagedConnection
    ) throws(Problem) -> (MessageID, MessageJournal.Entry) {
        guard let id = MessageID(text), let entry = upstream.message(id) else {
            throw .notFound("there is no such message, or it was long ago")
        }
        return (id, entry)
    }

    // MARK: Readiness

    func readiness(_ request: AdmittedRequest) -> HTTPResponse {
        let statuses = connections.values.filter(\.isToBeUp).map(\.upstream.status)
        let readiness = Readiness(statuses.sorted { $0.name < $1.name }, isStopping: shutdown != nil)
        // Where there are tokens, who comes without one gets no names.
        let isKnown = configuration.http.tokens.isEmpty || request.caller != .anonymous
        return readiness.response(named: isKnown, fields: request.fields) { name in
            request.caller.covers(connection: name)
        }
    }
}
