extension Outbox {
    /// How full the outbox is, for the status.
    package struct Load: Equatable, Sendable {
        package var messages: Int
        package var bytes: Int
        package var maxMessages: Int
        package var oldestAge: Duration?

        package init(messages: Int, bytes: Int, maxMessages: Int, oldestAge: Duration?) {
            self.messages = messages
            self.bytes = bytes
            self.maxMessages = maxMessages
            self.oldestAge = oldestAge
        }
    }

    package func load(now: Instant) -> Load {
        let oldest = unproven.first ?? inFlight.first ?? queued.first
        return Load(
            messages: messages,
            bytes: bytes,
            maxMessages: settings.maxMessages,
            oldestAge: oldest.map { now - $0.queuedAt }
        )
    }
}
