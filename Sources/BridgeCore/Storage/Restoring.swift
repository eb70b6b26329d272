internal import WebSocketProtocol

/// The two clocks at one moment, to tell when something was by the one that only the other knows.
package struct ClockReading: Sendable {
    package var instant: Instant
    package var time: WallTime

    package init(instant: Instant, time: WallTime) {
        self.instant = instant
        self.time = time
    }

    /// When that was; what lies in the future, since the time of day was set back, counts as now.
    func instant(of past: WallTime) -> Instant {
        let (age, overflow) = time.millisecondsSince1970.subtractingReportingOverflow(
            past.millisecondsSince1970
        )
        let milliseconds = overflow ? ClockReading.greatestAge : min(max(0, age), ClockReading.greatestAge)
        return instant + (.zero - .milliseconds(milliseconds))
    }

    /// A century, which nanoseconds can still count.
    private static let greatestAge: Int64 = 3_155_760_000_000
}

extension Outbox {
    /// Goes on with what was stored: all that waited, in order, and no number twice.
    ///
    /// What comes is to be stored first. `epoch` is that of the ids under which the messages were accepted.
    package init(
        _ settings: OutboxSettings,
        epoch: Epoch,
        restoring connection: StoredConnection,
        now: ClockReading
    ) {
        self.init(settings, as: OutboxID(epoch: epoch, connection.id))
        lastNumber = connection.lastMessage
        for stored in connection.messages {
            let queuedAt = now.instant(of: stored.queuedAt)
            queued.append(Entry(number: stored.number, message: stored.message, queuedAt: queuedAt))
            queuedBytes += stored.message.bytes.count
            lastNumber = max(lastNumber, stored.number)
        }
        durableThrough = lastNumber
    }
}

extension MessageJournal {
    /// Goes on with what was stored.
    package init(restoring connection: StoredConnection, limit: Int = MessageJournal.limit) {
        self.init(limit: limit)
        // First what leaves at once, as those that wait must stand in order.
        for outcome in connection.outcomes {
            queued(outcome.number, at: outcome.queuedAt)
            ended(outcome.number, as: outcome.state)
        }
        for message in connection.messages { queued(message.number, at: message.queuedAt) }
    }
}

extension IdempotencyLedger {
    /// Goes on with what was stored.
    ///
    /// Where the process ended before the first answer was given, that is what is known of the messages now.
    package init(restoring connection: StoredConnection, epoch: Epoch, now: ClockReading) {
        self.init()
        let journal = MessageJournal(restoring: connection, limit: .max)
        let outbox = OutboxID(epoch: epoch, connection.id)
        for key in connection.keys {
            let end = key.firstMessage + UInt64(key.count)
            let ids = MessageIDs(outbox: outbox, numbers: key.firstMessage..<end)
            var answer = Consignment(ids)
            for (index, id) in ids.enumerated() {
                if let state = key.answer?[index] ?? journal[id.number]?.state {
                    answer.ended(id, as: state)
                }
            }
            accepted(key.key, fingerprint: key.fingerprint, now: now.instant(of: key.firstUse))
            answered(key.key, with: answer)
        }
    }
}

extension StoredKey {
    /// A key that is new, with the messages that came with it.
    package init(_ key: String, fingerprint: [UInt8], ids: MessageIDs, at time: WallTime) {
        self.init(
            key: key,
            fingerprint: fingerprint,
            firstUse: time,
            firstMessage: ids.numbers.lowerBound,
            count: ids.count
        )
    }
}
