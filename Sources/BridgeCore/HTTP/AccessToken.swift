/// What a token allows.
package enum AccessScope: String, CaseIterable, Sendable {
    /// Status and streams.
    case read
    /// Messages.
    case send
    /// Control.
    case admin
}

/// What a request has to show for its work.
package enum AccessNeed: Equatable, Sendable {
    /// Nothing: everyone may come.
    case nothing
    /// Any token, whatever it allows.
    case anyToken
    /// A token that allows this.
    case scope(AccessScope)
}

/// A configured bearer token.
package struct AccessToken: Equatable, Sendable {
    /// For logs and answers; no secret.
    package var name: String
    package var secret: Secret
    package var scopes: Set<AccessScope>
    package var connections: [NamePattern]

    /// What the token is called that an environment variable adds.
    static let environmentName = "environment"

    package init(
        name: String,
        secret: Secret,
        scopes: Set<AccessScope> = Set(AccessScope.allCases),
        connections: [NamePattern] = [NamePattern("*")]
    ) {
        self.name = name
        self.secret = secret
        self.scopes = scopes
        self.connections = connections
    }
}
