/// What a request asks for, in full: which work is to be done, on which connection, with which parameters.
package enum Route: Equatable, Sendable {
    /// A file that `PublicFiles` has at this path.
    case file(path: [String])
    case health
    /// Whether the connections that are to be up are; show those that the caller covers.
    case readiness
    /// What whoever asks may do.
    case session
    /// Begin a session for the token that was shown; without tokens there is nothing to begin.
    case beginSession
    /// End the session that the cookie belongs to, if there is one.
    case endSession
    /// Figures for Prometheus; of connections those that the caller covers.
    case metrics
    /// The connections; show only those that the caller covers.
    case connectionList
    case status(connection: String)
    /// Make a connection, or give it other settings: the body is for `ConnectionConfiguration`.
    case put(connection: String)
    case remove(connection: String)
    case events(connection: String, EventsQuery)
    /// One stream of several connections; there is at least one.
    case mergedEvents(connections: [String], ConnectionScope, EventsQuery)
    case subscribers(connection: String)
    case poll(connection: String, PollQuery)
    /// The body is for `SendRequest.messages(in:)`.
    case send(connection: String, SendRequest)
    /// Send one message and answer with its reply; the body is for `Message(_:body:)`.
    case request(connection: String, ReplyRequest)
    /// What waits to be sent.
    case outbox(connection: String)
    case dropOutbox(connection: String)
    /// What became of one message; `message` may be anything.
    case message(connection: String, message: String)
    case dropMessage(connection: String, message: String)
    case connect(connection: String)
    /// The body, once it is there, is for `DisconnectRequest`.
    case disconnect(connection: String)
    case reconnect(connection: String)
    case pause(connection: String)
    case resume(connection: String)
}

extension Route {
    /// Settles which connection is meant, that `caller` may, and what the parameters say.
    ///
    /// Throws `forbidden` (403), `not-found` or `ambiguous-connection` (404), `invalid-parameter` (400)
    /// or `unsupported-media-type` (415).
    init(
        _ endpoint: Endpoint,
        of target: HTTPTarget,
        from head: RequestHead,
        by caller: Caller,
        among connections: [String]
    ) throws(Problem) {
        var name: String {
            get throws(Problem) {
                try Route.connection(endpoint.connection, for: caller, among: connections)
            }
        }
        let drops = head.method == "DELETE"
        switch endpoint.resource {
        case .file:
            self = .file(path: target.path)
        case .health:
            self = .health
        case .readiness:
            self = .readiness
        case .session where drops:
            self = .endSession
        case .session:
            self = head.method == "POST" ? .beginSession : .session
        case .metrics:
            self = .metrics
        case .connectionList:
            self = .connectionList
        case .connection where head.method == "PUT":
            self = .put(connection: try Route.newName(endpoint.connection ?? "", for: caller))
        case .connection where drops:
            self = .remove(connection: try name)
        case .connection, .status:
            self = .status(connection: try name)
        case .connect:
            self = .connect(connection: try name)
        case .disconnect:
            self = .disconnect(connection: try name)
        case .subscribers:
            self = .subscribers(connection: try name)
        case .reconnect:
            self = .reconnect(connection: try name)
        case .pause:
            self = .pause(connection: try name)
        case .resume:
            self = .resume(connection: try name)
        case .outbox:
            self = drops ? .dropOutbox(connection: try name) : .outbox(connection: try name)
        case .outboxMessage:
            let message = endpoint.message ?? ""
            self =
                drops
                ? .dropMessage(connection: try name, message: message)
                : .message(connection: try name, message: message)
        case .events:
            self = .events(connection: try name, try EventsQuery(target.query, head))
            return
        case .mergedEvents:
            let (patterns, query) = try EventsQuery.merged(target.query, head)
            let names = try patterns.names(coveredBy: caller, among: connections)
            self = .mergedEvents(connections: names, ConnectionScope(patterns, for: caller), query)
            return
        case .messages where head.method != "POST":
            self = .poll(connection: try name, try PollQuery(target.query))
            return
        case .messages:
            self = .send(connection: try name, try SendRequest(target.query, head))
            return
        case .request:
            self = .request(connection: try name, try ReplyRequest(target.query, head))
            return
        }
        _ = try QueryParameters(target.query, known: [])
    }

    /// The connection `name`, or without a name the only one, or the one named `default`.
    ///
    /// A caller that may not use a connection learns nothing about whether it exists.
    private static func connection(
        _ name: String?,
        for caller: Caller,
        among connections: [String]
    ) throws(Problem) -> String {
        let chosen = if let name { name } else { try implied(for: caller, among: connections) }
        guard caller.covers(connection: chosen) else {
            throw .forbidden("the token does not cover this connection")
        }
        guard connections.contains(chosen) else {
            throw .notFound("there is no connection `\(Problem.quotable(chosen))`")
        }
        return chosen
    }

    /// A name that a connection may have, whether there is one or not.
    private static func newName(_ name: String, for caller: Caller) throws(Problem) -> String {
        guard caller.covers(connection: name) else {
            throw .forbidden("the token does not cover this connection")
        }
        guard ConnectionName.isValid(name) else {
            throw .invalidParameter("connection", ConnectionName.expectation)
        }
        return name
    }

    private static func implied(for caller: Caller, among connections: [String]) throws(Problem) -> String {
        if connections.contains("default") { return "default" }
        if connections.count == 1 { return connections[0] }
        guard !connections.isEmpty else { throw .notFound("there is no connection") }
        let named = connections.filter { caller.covers(connection: $0) }.sorted()
        let shown = named.prefix(20).joined(separator: ", ") + (named.count > 20 ? ", ..." : "")
        throw Problem(
            .ambiguousConnection,
            "there are several connections and none is named `default`; use /v1/connections/NAME/... with one of: "
                + (shown.isEmpty ? "(none that this token covers)" : shown)
        )
    }
}
