package import BridgeCore
package import WebSocketProtocol

extension ManagedConnection {
    /// The outbox flows while the socket holds less than this that the kernel has not taken.
    ///
    /// Enough to keep a fast line busy, little enough that a ping or a close frame is not far behind.
    private static let unwrittenLimit = 256 * 1024

    /// Takes messages into the outbox, all or none, to be written in their turn.
    ///
    /// With `mayWait` false they are refused while the connection is not ready. Returns their ids in order.
    ///
    /// Where there is a store they are accepted only once that has them, as `onStored` is told in a later turn.
    package func send(
        _ messages: [Message],
        mayWait: Bool = true,
        key: MessageKey? = nil,
        onStored: ((Bool) -> Void)? = nil
    ) throws(OutboxError) -> MessageIDs {
        let now = surroundings.loop.now
        expire(now)
        // It may wake the connection even if it is refused: whoever comes again finds it ready then.
        if !isReady, !messages.isEmpty { tell(.messageOffered) }
        let time = surroundings.wallClock()
        let receipt = try outbox.append(
            messages,
            uplink: uplink,
            mayWait: mayWait,
            room: surroundings.memory?.outboxRoom ?? .unlimited,
            now: now,
            store: storing(messages, at: time, key, onStored)
        )
        for number in receipt.ids.numbers { journal.queued(number, at: time) }
        for id in receipt.dropped { lose(id, as: .dropped) }
        // What has to be stored first cannot go yet.
        if surroundings.store == nil { fill(now) }
        watchAge()
        noteDemand()
        return receipt.ids
    }

    /// Tells of what the outbox takes of the memory that all share.
    func noteMemory() {
        let growth = outbox.memoryBytes - notedMemory
        guard growth != 0 else { return }
        notedMemory += growth
        surroundings.memory?.outboxGrew(by: growth)
    }

    /// What became of a message; nil if there never was one, or it ended too long ago.
    package func message(_ id: MessageID) -> MessageJournal.Entry? {
        id.outbox == surroundings.outbox ? journal[id.number] : nil
    }

    /// What waits to be sent or is being sent, in order.
    package var waiting: [Outbox.Content] { outbox.content }

    /// Takes a message out of the outbox unless it is being sent or was; returns whether that was so.
    package func dropMessage(_ id: MessageID) -> Bool {
        guard outbox.drop(id) else { return false }
        lose(id, as: .dropped)
        noteDemand()
        return true
    }

    /// Takes all messages out of the outbox that are not being sent; returns how many.
    package func dropMessages() -> Int {
        let dropped = outbox.dropAll()
        for id in dropped { lose(id, as: .dropped) }
        noteDemand()
        return dropped.count
    }

    /// Hands the socket what is to go next, messages while it holds less than `limit`.
    func fill(upTo limit: Int = unwrittenLimit) {
        guard isReady || schedule.hasDue else { return }
        let now = surroundings.loop.now
        expire(now)
        fill(now, upTo: limit)
    }

    /// The same, where nothing in the outbox has expired by `now`.
    private func fill(_ now: Instant, upTo limit: Int = unwrittenLimit) {
        guard let line, isReady || schedule.hasDue else { return }
        let isHeld = !isReady || !machine.outlook.carriesMessages
        while let frame = schedule.next(
            from: &outbox,
            isFull: isHeld || line.socket.unwrittenBytes >= limit,
            isEnding: draining != nil,
            now: now
        ) {
            // One that is gone takes nothing, and nothing waits for it.
            guard let line = frame.socket.map(self.line(_:)) ?? line else { continue }
            hand(frame, to: line)
            surroundings.flushes.schedule(self)
        }
        watchRate(now)
        noteDrained()
    }

    /// Sends a frame of the machine's, as soon as the rate allows.
    func goNext(_ frame: SendSchedule.Frame) {
        schedule.fellDue(frame)
        fill()
    }

    private func hand(_ frame: SendSchedule.Frame, to line: Line) {
        let isTaken: Bool
        switch frame {
        case .ping(_, let payload): isTaken = line.hand(.own(.heartbeat)) { $0.sendPing(payload) }
        case .own(_, let message, let frame): isTaken = line.hand(.own(frame)) { $0.send(message) }
        case .probe(let payload): isTaken = line.hand(.probe) { $0.sendPing(payload) }
        case .message(let departure):
            let message = departure.isTransient ? identified(departure, on: line.id) : departure.message
            isTaken = line.hand(.message(departure.id)) { $0.send(message) }
        }
        // What no socket took never comes out of one, and must not count for the rate.
        if isRated, isTaken { schedule.handed(to: line.id) }
    }

    /// Goes on sending when the rate allows it again.
    private func watchRate(_ now: Instant) {
        guard isRated, opening == nil, let due = schedule.opening(for: outbox, now: now) else { return }
        opening = surroundings.loop.startTimer(after: due - now) { [weak self] in
            guard let self else { return }
            opening = nil
            fill()
        }
    }

    /// The kernel took all frames up to this one.
    func settle(_ line: Line, through frame: UInt64) {
        var now: Instant?
        while let content = line.ledger.popWritten(through: frame) {
            switch content {
            case .message(let id):
                let message = outbox.written(id)
                if let start = outbox.writtenSince {
                    // They were written at once.
                    let end = now ?? surroundings.loop.now
                    now = end
                    meter.written(since: start, now: end)
                }
                if let message { sent(id, message) }
            case .own(let frame):
                // What came before the heartbeat was written is no answer to it.
                if frame == .heartbeat { noteProgress() }
                tell(.frameWritten(line.id, frame))
            case .probe:
                break
            }
            if isRated, content != .own(.pong) {
                schedule.written(on: line.id, now: surroundings.loop.now)
            }
        }
        fill()
        noteDemand()
    }

    /// The peer answered a ping: what went before it has arrived.
    func confirm(by payload: [UInt8]) {
        guard let number = schedule.answered(payload) else { return }
        for departure in outbox.confirmed(through: number) { sent(departure.id, departure.message) }
        fill()
        noteDemand()
    }

    private func sent(_ id: MessageID, _ message: Message) {
        tally.sent(bytes: message.bytes.count)
        surroundings.sink.sent(message)
        end(id, as: .sent(at: surroundings.wallClock()))
    }

    /// With `isReplaced` another socket goes on with what the old one left.
    func returnInFlight(closeCode: UInt16?, isReplaced: Bool = false) {
        schedule.carrierLost()
        if let refused = outbox.connectionLost(closeCode: closeCode) { lose(refused, as: .dropped) }
        loseRequests(outbox.dropRequests(thatWereOut: isReplaced))
        watchAge()
        noteDemand()
    }

    /// Tells the machine whether anything needs the connection.
    func noteDemand() {
        guard machine.outlook.followsDemand else { return }
        let isWanted = isFollowed || !outbox.isEmpty || !requests.isEmpty
        if isWanted != machine.isWanted { tell(.demandChanged(isWanted: isWanted)) }
    }

    func lose(_ id: MessageID, as state: MessageState) {
        if requests.remove(id.number) { return onReply(id.number, .dropped) }
        let name = id.description
        record(state == .expired ? .messageExpired(id: name) : .messageDropped(id: name))
        end(id, as: state)
    }

    private func end(_ id: MessageID, as state: MessageState) {
        // A request is no message that anybody asks for by its id.
        guard journal.ended(id.number, as: state) else { return }
        surroundings.store?.ended(id.number, as: state)
        onEnd(id, state)
    }

    private func expire(_ now: Instant) {
        // Every message asks; what is computed, or may change, has the outbox copied.
        guard outbox.settings.maxAge != nil else { return }
        for id in outbox.expire(now: now) { lose(id, as: .expired) }
    }

    /// Sees to it that messages expire in time even if nothing else happens.
    func watchAge() {
        guard outbox.settings.maxAge != nil, let due = outbox.nextExpiry else { return }
        // One that fires too early costs a look; older messages may have come back in front since it was set.
        if let expiry, expiry.due <= due { return }
        let wait = max(due - surroundings.loop.now, .zero)
        let timer = surroundings.loop.startTimer(after: wait) { [weak self] in
            guard let self else { return }
            expiry = nil
            expire(surroundings.loop.now)
            watchAge()
            noteDemand()
        }
        expiry = (due, timer)
    }
}
