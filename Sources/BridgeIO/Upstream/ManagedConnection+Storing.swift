internal import BridgeCore
internal import WebSocketProtocol

/// An outbox whose messages are stored before they go out, or are answered for.
extension ManagedConnection {
    /// What has messages stored under the numbers that they get; nil: there is no store, or nothing for it.
    func storing(
        _ messages: [Message],
        at time: WallTime,
        _ key: MessageKey?,
        _ onStored: ((Bool) -> Void)?
    ) -> ((Range<UInt64>) throws(OutboxError) -> Void)? {
        guard let store = surroundings.store, !messages.isEmpty || key != nil else { return nil }
        let outbox = surroundings.outbox
        return { numbers throws(OutboxError) in
            let stored = zip(numbers, messages).map { number, message in
                StoredMessage(number: number, queuedAt: time, message: message)
            }
            let key = key.map { key in
                StoredKey(
                    key.text,
                    fingerprint: key.fingerprint,
                    ids: MessageIDs(outbox: outbox, numbers: numbers),
                    at: time
                )
            }
            try store.offer(stored, key: key) { [weak self] isStored in
                if isStored { self?.stored(numbers) } else { self?.withdraw(numbers) }
                onStored?(isStored)
                self?.fillLater()
            }
        }
    }

    private func stored(_ numbers: Range<UInt64>) {
        guard !numbers.isEmpty else { return }
        outbox.stored(through: numbers.upperBound - 1)
        guard outbox.settings.overflow == .dropOldest else { return }
        for id in outbox.makeRoom(for: numbers, within: surroundings.memory?.outboxRoom ?? .unlimited) {
            lose(id, as: .dropped)
        }
    }

    private func withdraw(_ numbers: Range<UInt64>) {
        _ = outbox.withdraw(numbers)
        journal.withdrawn(numbers)
        noteDemand()
    }
}
