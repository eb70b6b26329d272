extension Problem {
    /// How long a client is told to wait before it tries again.
    private static let retryDelay = Duration.seconds(1)

    /// Why an outbox did not take a message; `nextAttempt` is how long until its connection is dialled again.
    package init(_ error: OutboxError, nextAttempt: Duration? = nil) {
        let delay = max(Problem.retryDelay, nextAttempt ?? .zero)
        switch error {
        case .full(let bound):
            self = .outboxFull(
                "the outbox is full until the upstream takes messages: \(bound)",
                retryAfter: delay
            )
        case .tooLarge(let limit):
            self = .messageTooLarge(limit: limit)
        case .offline:
            self = .upstreamUnavailable("the connection is not ready", retryAfter: delay)
        case .tooMany(let limit):
            self = Problem(
                .messageTooLarge,
                "the outbox holds at most \(limit) messages, and this body has more"
            )
        case .receiveOnly:
            self = Problem(.receiveOnly, "the connection is configured as `receiveOnly`")
        case .unstorable:
            self = .storageUnavailable(
                "the message was not accepted, as it cannot be stored",
                retryAfter: Problem.retryDelay
            )
        case .closed:
            self = .connectionClosed("the connection is closed; POST .../connect opens it again")
        }
    }

    /// What was asked for is done, but only as long as the process lives.
    package static var doneButUnstorable: Problem {
        .storageUnavailable(
            "this is done, but cannot be stored yet: if the bridge ended before it can, it would be undone",
            retryAfter: Problem.retryDelay
        )
    }

    /// The bridge is not well: its store makes no progress.
    package static var storageStalled: Problem {
        .storageUnavailable("nothing could be stored for 5 seconds", retryAfter: Problem.retryDelay)
    }

    /// What a poll asks for is on disk, and the disk does not give it.
    package static var historyUnreadable: Problem {
        .storageUnavailable("the history cannot be read at the moment", retryAfter: Problem.retryDelay)
    }

    /// A message will never be sent.
    static func lost(_ id: MessageID, _ state: MessageState) -> Problem {
        state == .expired
            ? Problem(.messageExpired, "the message `\(id)` waited for longer than `outbox.maxAge`")
            : Problem(.messageDropped, "the message `\(id)` was taken out of the outbox before it was sent")
    }

    /// The key came before, with another body.
    package static var idempotencyMismatch: Problem {
        Problem(
            .idempotencyMismatch,
            "this Idempotency-Key came before with another body; a new message needs a new key"
        )
    }

    /// The bridge takes no more work.
    package static var bridgeStopping: Problem {
        .upstreamUnavailable("the bridge is stopping", retryAfter: Problem.retryDelay).closingConnection()
    }
}

extension OutboxBound: CustomStringConvertible {
    /// Where it is set, and to what.
    package var description: String {
        switch self {
        case .messages(let limit): "`outbox.maxMessages` is \(limit)"
        case .bytes(let limit): "`outbox.maxBytes` is \(limit)"
        case .memory: "all outboxes together take half of `memory.maxBytes`"
        }
    }
}
