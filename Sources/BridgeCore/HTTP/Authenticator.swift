/// Tells who sent a request from the tokens that are configured (RFC 6750), and from sessions that began with one.
struct Authenticator: Sendable {
    /// What the credentials of a request turned out to be.
    enum Finding: Equatable {
        /// No tokens are configured: everyone may do everything.
        case open
        case recognised(Caller)
        case refused(Problem)
    }

    let tokens: [AccessToken]
    /// See `SessionCookie`.
    let instance: String

    /// Looks at `Authorization: Bearer`, only without it at `access_token`, and only without both at the cookie of a
    /// session.
    func examine(
        _ head: RequestHead,
        _ target: HTTPTarget,
        host: Authority?,
        origins: OriginGuard,
        sessions: SessionTable
    ) -> Finding {
        guard !tokens.isEmpty else { return .open }
        let fields = head.values(of: "authorization")
        // A proxy may have judged by another one than the one that counts here.
        guard fields.count < 2 else { return .refused(.credentialsAmbiguous) }
        let bearer = fields.lazy.compactMap(Authenticator.bearerToken).first
        if let presented = bearer ?? target.query.first(where: { $0.name == "access_token" })?.value {
            return token(presented).map { .recognised(.token($0)) } ?? .refused(.tokenWrong)
        }
        let cookies = SessionCookie(instance: instance, host: host).values(in: head)
        guard !cookies.isEmpty else { return .refused(fields.isEmpty ? .tokenMissing : .schemeNotBearer) }
        // Browsers send it for pages of other ports, too, and to them this page's user is nobody.
        guard origins.isOwnPage(head, host: host) else { return .refused(.sessionForeign) }
        guard let session = sessions.session(of: cookies),
            let token = tokens.first(where: { $0.secret == session.token })
        else { return .refused(.sessionOver) }
        return .recognised(.session(session.key, token))
    }

    /// Whether a caller may still do what it could when it was told apart: its token is as it was, and its session
    /// goes on.
    func stillKnows(_ caller: Caller, sessions: SessionTable) -> Bool {
        switch caller {
        case .anonymous: tokens.isEmpty
        case .token(let token): tokens.contains(token)
        case .session(let key, let token): sessions[key] != nil && tokens.contains(token)
        }
    }

    /// The token that `presented` is; all are compared, whichever matches.
    private func token(_ presented: String) -> AccessToken? {
        let bytes = Array(presented.utf8)
        var found: AccessToken?
        for token in tokens where token.secret.matches(bytes) {
            found = found ?? token
        }
        return found
    }

    private static func bearerToken(_ field: String) -> String? {
        let scheme = field.prefix { $0 != " " }
        guard scheme.lowercased() == "bearer" else { return nil }
        return String(field[scheme.endIndex...].drop { $0 == " " })
    }
}

extension Authenticator.Finding {
    /// Who may do what needs this; where that is nothing, a right token is known all the same.
    ///
    /// Throws `unauthorized` (401) or `forbidden` (403).
    func caller(for need: AccessNeed) throws(Problem) -> Caller {
        switch (self, need) {
        case (.open, _), (.refused, .nothing):
            return .anonymous
        case (.refused(let problem), .anyToken), (.refused(let problem), .scope):
            throw problem
        case (.recognised(let caller), .nothing), (.recognised(let caller), .anyToken):
            return caller
        case (.recognised(let caller), .scope(let scope)):
            guard let token = caller.token, token.scopes.contains(scope) else {
                throw .forbidden(
                    "the token `\(caller.name)` does not have the scope `\(scope.rawValue)`"
                )
            }
            return caller
        }
    }
}
