internal import WebSocketProtocol

/// The problems of requests, each with all that its answer needs.
extension Problem {
    /// A query parameter, or a header field that acts as one, is unknown, repeated or malformed.
    package static func invalidParameter(_ name: String, _ detail: String) -> Problem {
        Problem(.invalidParameter, "`\(Problem.quotable(name))`: \(detail)")
    }

    package static func notFound(_ detail: String) -> Problem {
        Problem(.notFound, detail)
    }

    /// `allow` lists the methods that the resource has (RFC 9110 §10.2.1).
    package static func methodNotAllowed(allow: String, hint: String? = nil) -> Problem {
        let detail = "allowed here: \(allow)" + (hint.map { "; " + $0 } ?? "")
        return Problem(.methodNotAllowed, detail, fields: [HTTPField("Allow", allow)])
    }

    /// Each thing that is wrong with the settings in a body.
    package static func invalidSettings(_ errors: [String]) -> Problem {
        var problem = Problem(.invalidBody, "")
        problem.errors = Array(errors.prefix(mostErrors))
        if errors.count > mostErrors { problem.errors.append("\(errors.count - mostErrors) more") }
        problem.detail = problem.errors.joined(separator: "; ")
        return problem
    }

    private static let mostErrors = 50

    /// No token came: the challenge of RFC 6750 §3, without an error code.
    package static var tokenMissing: Problem {
        unauthorized(
            "send `Authorization: Bearer TOKEN` or `?access_token=TOKEN`, or begin a session at `/v1/session`",
            error: nil
        )
    }

    /// A token came that is not one of ours.
    package static var tokenWrong: Problem {
        unauthorized("the access token is not known here", error: "invalid_token")
    }

    /// A line between the parts of a body has no end.
    package static var endlessLine: Problem {
        Problem(.invalidFraming, "a line of the chunked body is too long").closingConnection()
    }

    /// It is not clear which credentials count.
    package static var credentialsAmbiguous: Problem {
        unauthorized("there is more than one `Authorization`", error: "invalid_request")
    }

    /// Credentials came in a scheme other than Bearer.
    package static var schemeNotBearer: Problem {
        unauthorized("only `Authorization: Bearer TOKEN` is understood", error: "invalid_request")
    }

    /// A cookie came whose session has ended, or which never was one.
    package static var sessionOver: Problem {
        unauthorized(
            "the session has ended; `POST /v1/session` with a token begins another",
            error: "invalid_token"
        )
    }

    /// The cookie of a session came with what a page of another origin asks for.
    package static var sessionForeign: Problem {
        unauthorized("a session is for the bridge's own page; others send a token", error: "invalid_request")
    }

    /// Whoever begins a session has to show the token itself.
    package static var sessionNeedsToken: Problem {
        unauthorized("a session begins with a token: send `Authorization: Bearer TOKEN`", error: nil)
    }

    private static func unauthorized(_ detail: String, error: String?) -> Problem {
        var challenge = "Bearer realm=\"wsbridge\""
        if let error { challenge += ", error=\"\(error)\", error_description=\"\(detail)\"" }
        return Problem(.unauthorized, detail, fields: [HTTPField("WWW-Authenticate", challenge)])
    }

    package static func forbidden(_ detail: String) -> Problem {
        Problem(.forbidden, detail)
    }

    /// A message is longer than `limit` bytes.
    package static func messageTooLarge(limit: Int) -> Problem {
        Problem(.messageTooLarge, "a body may have at most \(limit) bytes")
    }

    /// The client has not sent all of its request in time; its connection is closed.
    package static var requestTimeout: Problem {
        Problem(.requestTimeout, "a request has to be sent within `http.requestTimeout`").closingConnection()
    }

    /// Others send so much at the moment that there is no room for this body.
    package static func tooManyBodies(limit: Int) -> Problem {
        Problem(
            .tooManyBodies,
            "the bodies of requests that are being sent may have at most \(limit) bytes together",
            fields: [Problem.retryAfter(.seconds(1))]
        )
    }

    /// `retryAfter` is rounded up to whole seconds, as the header has no finer unit (RFC 9110 §10.2.3).
    package static func upstreamUnavailable(_ detail: String, retryAfter: Duration) -> Problem {
        Problem(.upstreamUnavailable, detail, fields: [Problem.retryAfter(retryAfter)])
    }

    package static func outboxFull(_ detail: String, retryAfter: Duration) -> Problem {
        Problem(.outboxFull, detail, fields: [Problem.retryAfter(retryAfter)])
    }

    /// The log and the status of a connection say why.
    package static func storageUnavailable(_ detail: String, retryAfter: Duration) -> Problem {
        Problem(.storageUnavailable, detail, fields: [Problem.retryAfter(retryAfter)])
    }

    package static func tooManySubscribers(limit: Int, retryAfter: Duration) -> Problem {
        Problem(
            .tooManySubscribers,
            "at most \(limit) event streams and waiting polls may be open at a time",
            fields: [Problem.retryAfter(retryAfter)]
        )
    }

    /// There is no room for the client; its connection is closed.
    package static func tooManyConnections(limit: Int) -> Problem {
        Problem(
            .tooManyConnections,
            "at most \(limit) connections may be open at a time",
            fields: [Problem.retryAfter(.seconds(5))]
        ).closingConnection()
    }

    /// There is no room for one more upstream.
    package static func tooManyUpstreams(limit: Int) -> Problem {
        Problem(
            .tooManyConnections,
            "there may be at most \(limit) upstream connections at a time, those that still close included",
            fields: [Problem.retryAfter(.seconds(5))]
        )
    }

    package static func tooManyFilters(limit: Int, retryAfter: Duration) -> Problem {
        Problem(
            .tooManySubscribers,
            "streams and waiting polls may have at most \(limit) different filters at a time",
            fields: [Problem.retryAfter(retryAfter)]
        )
    }

    /// The connection was closed by the user, or gave up, and does not take messages.
    package static func connectionClosed(_ detail: String) -> Problem {
        Problem(.connectionClosed, detail)
    }

    /// The bridge failed; what failed stands in its log, not here.
    package static var internalError: Problem {
        Problem(.internalError, "the bridge failed to serve this request; its log says more")
    }

    private static func retryAfter(_ duration: Duration) -> HTTPField {
        let (seconds, attoseconds) = duration.components
        let whole = max(seconds, 0)
        return HTTPField("Retry-After", String(attoseconds > 0 && whole < .max ? whole + 1 : whole))
    }

    /// What somebody sent, short and plain enough to be repeated: without control and invisible characters.
    static func quotable(_ text: String, limit: Int = 64) -> String {
        // Nearly all that is quoted is: to look a character up takes longer than all else.
        if text.utf8.count <= limit, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        var shown = ""
        for (place, scalar) in text.unicodeScalars.enumerated() {
            guard place < limit else { return shown + "..." }
            let isControl = scalar.properties.generalCategory == .control
            let isHidden = isControl || scalar.properties.isDefaultIgnorableCodePoint
            shown.unicodeScalars.append(isHidden ? "?" : scalar)
        }
        return shown
    }
}
