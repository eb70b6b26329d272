package import WebSocketProtocol

/// A request that may be served.
package struct AdmittedRequest: Equatable, Sendable {
    package var route: Route
    package var caller: Caller
    /// Only the head of the answer is wanted; a stream ends at once.
    package var isHead: Bool
    /// Takes the body.
    package var body: BodyIntake
    /// To be added to whatever is answered, event streams included.
    package var fields: [HTTPField]
    /// Of the session that is to begin or to end; nil where none is meant.
    package var cookie: SessionCookie?
}

/// What becomes of a request once its head is there.
package enum Admission: Equatable, Sendable {
    /// To be answered as it stands, without reading a body.
    case answer(HTTPResponse)
    case serve(AdmittedRequest)
}

/// Everything that stands between a request's head and the work it asks for.
///
/// Host and origin are checked first, for every method and path; then credentials; only then is anything said
/// about connections. A value: to change the settings make a new one.
package struct RequestGate: Sendable {
    private let authenticator: Authenticator
    private let hosts: HostGuard
    private let origins: OriginGuard
    private let maxBodyBytes: Int
    private let dynamic: Bool
    private let files: PublicFiles
    private let servesTLS: Bool

    /// `ownNames` are the machine's, as the caller knows them; `files` are those of the page.
    package init(
        _ settings: HTTPSettings,
        ownNames: [String],
        files: PublicFiles = PublicFiles()
    ) {
        servesTLS = settings.tls != nil
        authenticator = Authenticator(
            tokens: settings.tokens,
            instance: ([settings.listen.text] + ownNames).joined(separator: "\n")
        )
        hosts = HostGuard(allowed: settings.allowedHosts, ownNames: ownNames)
        origins = OriginGuard(allowed: settings.allowedOrigins, servesTLS: servesTLS)
        maxBodyBytes = settings.maxBodyBytes
        dynamic = settings.dynamicConnections
        self.files = files
    }

    /// Whether a caller may still do what it could when it was admitted.
    package func stillKnows(_ caller: Caller, sessions: SessionTable) -> Bool {
        authenticator.stillKnows(caller, sessions: sessions)
    }

    /// Decides about a request; `connections` are the names of all there are.
    package func admit(
        _ head: RequestHead,
        connections: [String],
        sessions: SessionTable = SessionTable()
    ) -> Admission {
        var fields = [OriginGuard.vary]
        do throws(Problem) {
            return try admit(head, connections: connections, sessions: sessions, fields: &fields)
        } catch {
            return .answer(HTTPResponse(error).adding(fields))
        }
    }

    private func admit(
        _ head: RequestHead,
        connections: [String],
        sessions: SessionTable,
        fields: inout [HTTPField]
    ) throws(Problem) -> Admission {
        let framing = try RequestFraming(of: head)
        let target = try HTTPTarget(parsing: head.target)
        let host = try HostGuard.authority(of: head, target)
        let credentials = authenticator.examine(
            head,
            target,
            host: host,
            origins: origins,
            sessions: sessions
        )
        try hosts.check(host, of: head, isTrusted: credentials.isRecognised)
        let origin = try origins.examine(head, target, host: host)
        fields += origin.fields
        if head.method == "OPTIONS" {
            return .answer(try options(head, target, origin, fields))
        }
        guard !target.isAsterisk else { throw Problem(.invalidTarget, "`*` is for OPTIONS alone") }
        let endpoint = try Endpoint(path: target.path, files: files)
        let caller = try credentials.caller(for: endpoint.resource.need(of: head.method, dynamic: dynamic))
        let route = try Route(endpoint, of: target, from: head, by: caller, among: connections)
        let cookie = try cookie(for: route, caller, head, host)
        let body = try BodyIntake(framing, limit: maxBodyBytes)
        return .serve(
            AdmittedRequest(
                route: route,
                caller: caller,
                isHead: head.method == "HEAD",
                body: body,
                fields: fields,
                cookie: cookie
            )
        )
    }

    /// The cookie of the session that a request begins or ends.
    ///
    /// Throws `unauthorized` (401) for a session that would begin with another one, and `origin-not-allowed` (403) for pages
    /// that may use the bridge but are not its own: their browsers would send the cookie to no avail.
    private func cookie(
        for route: Route,
        _ caller: Caller,
        _ head: RequestHead,
        _ host: Authority?
    ) throws(Problem) -> SessionCookie? {
        guard route == .beginSession || route == .endSession else { return nil }
        guard origins.isOwnPage(head, host: host) else {
            throw Problem(.originNotAllowed, "sessions are for the bridge's own page; others send a token")
        }
        if case .session = caller, route == .beginSession { throw .sessionNeedsToken }
        var cookie = SessionCookie(instance: authenticator.instance, host: host)
        // Behind a proxy that has the certificate the browser still says how it sees the page.
        cookie.isSecure = servesTLS || head.value(of: "origin")?.lowercased().hasPrefix("https://") == true
        return cookie
    }

    /// Answers OPTIONS; a preflight even where there is nothing, so that the page gets to see the 404.
    private func options(
        _ head: RequestHead,
        _ target: HTTPTarget,
        _ origin: OriginGuard.Finding,
        _ fields: [HTTPField]
    ) throws(Problem) -> HTTPResponse {
        let everything = "GET, HEAD, POST, PUT, DELETE, OPTIONS"
        if OriginGuard.isPreflight(head) {
            let endpoint = try? Endpoint(path: target.path, files: files)
            let allow = endpoint?.resource.allow(dynamic: dynamic) ?? everything
            return HTTPResponse(status: 204, fields: fields + origin.preflightFields(allow: allow))
        }
        let allow =
            target.isAsterisk
            ? everything : try Endpoint(path: target.path, files: files).resource.allow(dynamic: dynamic)
        return HTTPResponse(status: 204, fields: fields + [HTTPField("Allow", allow)])
    }
}

extension Authenticator.Finding {
    /// A right token came, so whoever sent it did not come by accident.
    fileprivate var isRecognised: Bool {
        switch self {
        case .recognised: true
        case .open, .refused: false
        }
    }
}
