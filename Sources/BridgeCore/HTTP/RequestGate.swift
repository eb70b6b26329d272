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

    /// `ownNames` are the machine's, as the caller knows them; `files` are those of the page.
    package init(_ settings: HTTPSettings, ownNames: [String], files: PublicFiles = PublicFiles()) {
        authenticator = Authenticator(tokens: settings.tokens)
        hosts = HostGuard(allowed: settings.allowedHosts, ownNames: ownNames)
        origins = OriginGuard(allowed: settings.allowedOrigins)
        maxBodyBytes = settings.maxBodyBytes
        dynamic = settings.dynamicConnections
        self.files = files
    }

    /// Decides about a request; `connections` are the names of all there are.
    package func admit(_ head: RequestHead, connections: [String]) -> Admission {
        var fields = [OriginGuard.vary]
        do throws(Problem) {
            return try admit(head, connections: connections, fields: &fields)
        } catch {
            return .answer(HTTPResponse(error).adding(fields))
        }
    }

    private func admit(
        _ head: RequestHead,
        connections: [String],
        fields: inout [HTTPField]
    ) throws(Problem) -> Admission {
        let framing = try RequestFraming(of: head)
        let target = try HTTPTarget(parsing: head.target)
        let host = try HostGuard.authority(of: head, target)
        let credentials = authenticator.examine(head, target)
        try hosts.check(host, of: head, isTrusted: credentials.isRecognised)
        let origin = try origins.examine(head, target, host: host)
        fields += origin.fields
        if head.method == "OPTIONS" {
            return .answer(try options(head, target, origin, fields))
        }
        guard !target.isAsterisk else { throw Problem(.invalidTarget, "`*` is for OPTIONS alone") }
        let endpoint = try Endpoint(path: target.path, files: files)
        let caller = try credentials.caller(for: endpoint.resource.scope(of: head.method, dynamic: dynamic))
        let route = try Route(endpoint, of: target, from: head, by: caller, among: connections)
        let body = try BodyIntake(framing, limit: maxBodyBytes)
        return .serve(
            AdmittedRequest(
                route: route,
                caller: caller,
                isHead: head.method == "HEAD",
                body: body,
                fields: fields
            )
        )
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
