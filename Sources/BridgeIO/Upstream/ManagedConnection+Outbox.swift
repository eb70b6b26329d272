package import BridgeCore
package import WebSocketProtocol

extension ManagedConnection {
    /// The outbox flows while the socket holds less than this that the kernel has not taken.
    ///
    /// Enough to keep a fast line busy, little enough that a ping or a close frame is not far behind.
    private static let unwrittenLimit = 256 * 1024

    /// Takes a message into the outbox, to be written in its turn.
    ///
    /// With `mayWait` false it is refused while the connection is not ready.
    package func send(_ message: Message, mayWait: Bool = true) throws(OutboxError) -> MessageID {
        expire()
        let receipt = try outbox.append(
            message,
            uplink: machine.uplink,
            mayWait: mayWait,
            now: surroundings.loop.now
        )
        for id in receipt.dropped { lose(id, .messageDropped(id: id.description)) }
        if machine.isReady { fill() }
        watchAge()
        return receipt.id
    }

    /// Hands messages to the socket while it holds less than `limit`.
    func fill(upTo limit: Int = unwrittenLimit) {
        guard let line else { return }
        expire()
        while line.socket.unwrittenBytes < limit, let departure = outbox.next() {
            line.hand(.message(departure.id)) { $0.send(departure.message) }
            surroundings.flushes.schedule(self)
        }
    }

    /// The kernel took all frames up to this one.
    func settle(_ line: Line, through frame: UInt64) {
        while let content = line.ledger.popWritten(through: frame) {
            switch content {
            case .message(let id):
                let message = outbox.oldestInFlight
                guard let bytes = outbox.written(id), let message else { continue }
                tally.sent(bytes: bytes)
                surroundings.sink.sent(message)
                onSent(id)
            case .control(let frame):
                // What came before the ping was written is no answer to it.
                if frame == .ping { noteProgress() }
                tell(.frameWritten(line.id, frame))
            }
        }
        if machine.isReady { fill() }
    }

    func returnInFlight(closeCode: UInt16?) {
        if let refused = outbox.connectionLost(closeCode: closeCode) {
            lose(refused, .messageDropped(id: refused.description))
        }
        watchAge()
    }

    private func lose(_ id: MessageID, _ event: Lifecycle) {
        record(event)
        onLost(id)
    }

    private func expire() {
        for id in outbox.expire(now: surroundings.loop.now) {
            lose(id, .messageExpired(id: id.description))
        }
    }

    /// Sees to it that messages expire in time even if nothing else happens.
    private func watchAge() {
        guard let due = outbox.nextExpiry else { return }
        // One that fires too early costs a look; older messages may have come back in front since it was set.
        if let expiry, expiry.due <= due { return }
        let wait = max(due - surroundings.loop.now, .zero)
        let timer = surroundings.loop.startTimer(after: wait) { [weak self] in
            guard let self else { return }
            expiry = nil
            expire()
            watchAge()
        }
        expiry = (due, timer)
    }
}
