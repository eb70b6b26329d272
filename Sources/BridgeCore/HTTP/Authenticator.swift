/// Tells who sent a request from the tokens that are configured (RFC 6750).
struct Authenticator: Sendable {
    /// What the credentials of a request turned out to be.
    enum Finding: Equatable {
        /// No tokens are configured: everyone may do everything.
        case open
        case recognised(AccessToken)
        case refused(Problem)
    }

    let tokens: [AccessToken]

    /// Looks at `Authorization: Bearer`, and only without it at `access_token`.
    func examine(_ head: RequestHead, _ target: HTTPTarget) -> Finding {
        guard !tokens.isEmpty else { return .open }
        let fields = head.values(of: "authorization")
        let bearer = fields.lazy.compactMap(Authenticator.bearerToken).first
        guard let presented = bearer ?? target.query.first(where: { $0.name == "access_token" })?.value else {
            return .refused(fields.isEmpty ? .tokenMissing : .schemeNotBearer)
        }
        return token(presented).map(Finding.recognised) ?? .refused(.tokenWrong)
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
    /// Who may do what needs `scope`; nil: everyone may, and a right token is known all the same.
    ///
    /// Throws `unauthorized` (401) or `forbidden` (403).
    func caller(for scope: AccessScope?) throws(Problem) -> Caller {
        guard let scope else {
            if case .recognised(let token) = self { return .token(token) }
            return .anonymous
        }
        switch self {
        case .open:
            return .anonymous
        case .refused(let problem):
            throw problem
        case .recognised(let token):
            guard token.scopes.contains(scope) else {
                throw .forbidden("the token `\(token.name)` does not have the scope `\(scope.rawValue)`")
            }
            return .token(token)
        }
    }
}
