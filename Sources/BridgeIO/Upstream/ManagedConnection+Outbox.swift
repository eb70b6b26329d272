package import BridgeCore
package import WebSocketProtocol

extension ManagedConnection {
    /// The outbox flows while the socket holds less than this that the kernel has not taken.
    ///
    /// Enough to keep a fast line busy, little enough that a ping or a close frame is not far behind.
    private static let unwrittenLimit = 256 * 1024

    /// Takes messages into the outbox, all or none, to be written in their turn.
    ///
    /// With `mayWait` false they are refused while the connection is not ready. Returns their ids in order, whose
    /// numbers follow one another.
    package func send(_ messages: [Message], mayWait: Bool = true) throws(OutboxError) -> [MessageID] {
        expire()
        let receipt = try outbox.append(
            messages,
            uplink: uplink,
            mayWait: mayWait,
            now: surroundings.loop.now
        )
        let time = surroundings.wallClock()
        for id in receipt.ids { journal.queued(id.number, at: time) }
        for id in receipt.dropped { lose(id, as: .dropped) }
        if machine.isReady { fill() }
        watchAge()
        return receipt.ids
    }

    /// What became of a message; nil if there never was one, or it ended too long ago.
    package func message(_ id: MessageID) -> MessageJournal.Entry? {
        id.epoch == surroundings.epoch ? journal[id.number] : nil
    }

    /// What waits to be sent or is being sent, in order.
    package var waiting: [Outbox.Content] { outbox.content }

    /// Takes a message out of the outbox unless it is being sent or was; returns whether that was so.
    package func dropMessage(_ id: MessageID) -> Bool {
        guard outbox.drop(id) else { return false }
        lose(id, as: .dropped)
        return true
    }

    /// Takes all messages out of the outbox that are not being sent; returns how many.
    package func dropMessages() -> Int {
        let dropped = outbox.dropAll()
        for id in dropped { lose(id, as: .dropped) }
        return dropped.count
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
                end(id, as: .sent(at: surroundings.wallClock()))
            case .control(let frame):
                // What came before the ping was written is no answer to it.
                if frame == .ping { noteProgress() }
                tell(.frameWritten(line.id, frame))
            }
        }
        if machine.isReady { fill() }
    }

    func returnInFlight(closeCode: UInt16?) {
        if let refused = outbox.connectionLost(closeCode: closeCode) { lose(refused, as: .dropped) }
        watchAge()
    }

    private func lose(_ id: MessageID, as state: MessageState) {
        let name = id.description
        record(state == .expired ? .messageExpired(id: name) : .messageDropped(id: name))
        end(id, as: state)
    }

    private func end(_ id: MessageID, as state: MessageState) {
        journal.ended(id.number, as: state)
        onEnd(id, state)
    }

    private func expire() {
        for id in outbox.expire(now: surroundings.loop.now) { lose(id, as: .expired) }
    }

    /// Sees to it that messages expire in time even if nothing else happens.
    func watchAge() {
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
