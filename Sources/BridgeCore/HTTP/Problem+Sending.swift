extension Problem {
    /// How long a client is told to wait before it tries again.
    private static let retryDelay = Duration.seconds(1)

    /// Why an outbox did not take a message.
    package init(_ error: OutboxError) {
        switch error {
        case .full:
            self = .outboxFull(
                "the outbox is full until the upstream takes messages",
                retryAfter: Problem.retryDelay
            )
        case .tooLarge(let limit):
            self = .messageTooLarge(limit: limit)
        case .offline:
            self = .upstreamUnavailable("the connection is not ready", retryAfter: Problem.retryDelay)
        case .closed:
            self = .connectionClosed("the connection is closed; POST .../connect opens it again")
        }
    }

    /// The bridge takes no more work.
    package static var bridgeStopping: Problem {
        .upstreamUnavailable("the bridge is stopping", retryAfter: Problem.retryDelay).closingConnection()
    }
}
