/// Who is behind a request, once that is known.
package enum Caller: Equatable, Sendable {
    /// Anyone, where no tokens are configured or the resource is open to all.
    case anonymous
    case token(AccessToken)
    /// A browser that has shown the token before.
    case session(SessionKey, AccessToken)

    /// For the log.
    package var name: String {
        token?.name ?? "anonymous"
    }

    /// What it may do; nil: whatever anyone may.
    package var token: AccessToken? {
        switch self {
        case .anonymous: nil
        case .token(let token), .session(_, let token): token
        }
    }

    package func covers(connection: String) -> Bool {
        token?.connections.contains { $0.matches(connection) } ?? true
    }
}
