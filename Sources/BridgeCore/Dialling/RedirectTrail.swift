package import WebSocketProtocol

/// The redirects that one attempt has followed, and what may follow.
package struct RedirectTrail: Equatable, Sendable {
    /// A way further.
    package struct Step: Equatable, Sendable {
        package var url: WebSocketURL
        /// Scheme, host or port is another: what is secret stays behind.
        package var crossesOrigin: Bool

        package init(url: WebSocketURL, crossesOrigin: Bool) {
            self.url = url
            self.crossesOrigin = crossesOrigin
        }
    }

    package static let most = 5

    /// Redirects followed so far.
    package private(set) var count = 0

    package init() {}

    /// Where an answer of the upstream at `url` leads to.
    ///
    /// Userinfo in a `Location` is refused, since it is there to deceive (RFC 9110 §4.2.4).
    package mutating func follow(
        _ answer: RedirectAnswer,
        from url: WebSocketURL
    ) throws(RedirectRefusal) -> Step {
        guard count < RedirectTrail.most else { throw .tooMany(status: answer.status) }
        guard let location = answer.location else { throw .noLocation(status: answer.status) }
        let next: WebSocketURL
        do throws(WebSocketURLError) {
            next = try url.resolving(location)
        } catch {
            throw .wrongURL(status: answer.status, error)
        }
        guard next.isSecure || !url.isSecure else { throw .insecure(status: answer.status) }
        guard next.credentials == nil else { throw .credentials(status: answer.status) }
        if case .unix = next.endpoint, next.endpoint != url.endpoint {
            throw .unixSocket(status: answer.status)
        }
        count += 1
        let isSame = next.hasSameOrigin(as: url)
        return Step(url: isSame ? next.authorized(as: url) : next, crossesOrigin: !isSame)
    }
}

/// Why a redirect was not followed; with the status of the answer.
package enum RedirectRefusal: Error, Equatable, Sendable {
    case tooMany(status: Int)
    case noLocation(status: Int)
    case wrongURL(status: Int, WebSocketURLError)
    case insecure(status: Int)
    case credentials(status: Int)
    case unixSocket(status: Int)

    package var status: Int {
        switch self {
        case .tooMany(let status), .noLocation(let status), .wrongURL(let status, _), .insecure(let status),
            .credentials(let status), .unixSocket(let status):
            status
        }
    }

    /// Why, to stand after who it was.
    private var reason: String {
        switch self {
        case .tooMany: "redirected more than \(RedirectTrail.most) times"
        case .noLocation: "redirected without one `Location` that says where to"
        case .wrongURL(_, let error): "redirected to a URL that \(error)"
        case .insecure: "redirected from wss to ws, which would give up TLS"
        case .credentials: "redirected to a URL with a user name, which is not followed"
        case .unixSocket: "redirected to a unix socket, which is not followed"
        }
    }
}

extension DialFailure {
    package init(_ refusal: RedirectRefusal) {
        self.init(phase: .handshake, status: refusal.status, error: refusal.text)
    }
}

extension RedirectRefusal {
    /// One sentence for people and logs.
    package var text: String { "the upstream \(reason) (HTTP status \(status))" }
}

extension ClientHandshake.Terms {
    /// The terms for the next URL on a way of redirects.
    package func redirected(by step: RedirectTrail.Step) -> ClientHandshake.Terms {
        var terms = self
        terms.url = step.url
        if step.crossesOrigin {
            terms.fields.removeAll { Self.belongsToOrigin($0.name.lowercased()) }
        }
        return terms
    }

    /// `Host` names who is dialled; the others hold a secret, or by their name may well do so.
    private static func belongsToOrigin(_ name: String) -> Bool {
        ["host", "cookie"].contains(name)
            || ["auth", "token", "key", "secret", "session", "password", "credential", "signature"]
                .contains { name.contains($0) }
    }
}
