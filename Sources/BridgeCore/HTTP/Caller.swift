/// Who is behind a request, once that is known.
package enum Caller: Equatable, Sendable {
    /// Anyone, where no tokens are configured or the resource is open to all.
    case anonymous
    case token(AccessToken)

    /// For the log.
    package var name: String {
        switch self {
        case .anonymous: "anonymous"
        case .token(let token): token.name
        }
    }

    package func covers(connection: String) -> Bool {
        switch self {
        case .anonymous: true
        case .token(let token): token.connections.contains { $0.matches(connection) }
        }
    }
}
