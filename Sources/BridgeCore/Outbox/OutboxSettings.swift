/// The bounds of an outbox: what the configuration says under `outbox`, with its defaults.
package struct OutboxSettings: Equatable, Sendable {
    /// What happens to a message while the connection is not ready.
    package enum WhenOffline: String, CaseIterable, Sendable {
        case queue
        case reject
    }

    /// What happens to a message that does not fit.
    package enum Overflow: String, CaseIterable, Sendable {
        /// It is refused.
        case reject
        /// Messages that wait are dropped, oldest first, until it fits.
        case dropOldest
    }

    /// What makes a message sent.
    package enum Confirm: String, CaseIterable, Sendable {
        /// The kernel took it.
        case written
        /// A ping that went out after it was answered.
        case pong
    }

    package var whenOffline = WhenOffline.queue
    /// All that are not sent yet.
    package var maxMessages = 1000
    /// Their payload bytes.
    package var maxBytes = 16 * 1024 * 1024
    /// Messages that wait for longer expire; nil: never.
    package var maxAge: Duration?
    package var overflow = Overflow.reject
    package var confirm = Confirm.written
    /// A message for a connection that gave up starts it again.
    package var wakes = false

    package init() {}
}

/// What an outbox is full by.
package enum OutboxBound: Equatable, Sendable {
    /// `outbox.maxMessages`.
    case messages(limit: Int)
    /// `outbox.maxBytes`.
    case bytes(limit: Int)
    /// What `memory.maxBytes` leaves to all outboxes together.
    case memory
}

/// Why the outbox did not take a message.
package enum OutboxError: Error, Equatable, Sendable {
    /// This bound is reached; there may be room later.
    case full(OutboxBound)
    /// The message alone is larger than all that the outbox may hold.
    case tooLarge(limit: Int)
    /// These are more messages than the outbox may hold.
    case tooMany(limit: Int)
    /// The connection is not ready, and the message was not to wait.
    case offline
    /// The connection is down for good until a user connects it.
    case closed
    /// Nothing is ever sent on the connection.
    case receiveOnly
    /// The store cannot be written at the moment.
    case unstorable
}
