internal import BridgeCore
internal import WebSocketProtocol

/// Reading what is there, before anything is written.
extension StoreSession {
    static func tallies(_ database: borrowing Database) throws(StorageError) -> [StoredConnectionID:
        StoreTally]
    {
        var tallies: [StoredConnectionID: StoreTally] = [:]
        let connections = try database.prepare(
            """
            SELECT id, records, bytes, trimmed, trimmed_through, trimmed_at,
                max(last_message, coalesce((SELECT max(number) FROM outbox WHERE connection = connections.id), 0)),
                recorded, newest,
                (SELECT count(*) FROM outcomes WHERE connection = connections.id),
                (SELECT count(*) FROM idempotency_keys WHERE connection = connections.id),
                (SELECT max(place) FROM idempotency_keys WHERE connection = connections.id),
                (SELECT min(sequence) FROM records WHERE connection = connections.id),
                skipped, skipped_through, unknown_through
            FROM connections WHERE removed = 0
            """
        )
        while try connections.next() {
            var tally = StoreTally()
            tally.history.records = Int(connections.integer(1))
            tally.history.bytes = Int(connections.integer(2))
            tally.history.trimmed = UInt64(clamping: connections.integer(3))
            tally.history.trimmedThrough = UInt64(clamping: connections.integer(4))
            tally.history.trimmedAt = WallTime(millisecondsSince1970: connections.integer(5))
            tally.lastMessage = UInt64(clamping: connections.integer(6))
            tally.history.recorded = UInt64(clamping: connections.integer(7))
            tally.history.newest = UInt64(clamping: connections.integer(8))
            tally.outcomes = Int(connections.integer(9))
            tally.keys = Int(connections.integer(10))
            tally.lastKey = connections.integer(11)
            tally.history.oldest = UInt64(clamping: connections.integer(12))
            tally.history.skipped = UInt64(clamping: connections.integer(13))
            tally.history.skippedThrough = UInt64(clamping: connections.integer(14))
            tally.history.unknownThrough = UInt64(clamping: connections.integer(15))
            tallies[StoredConnectionID(number: connections.integer(0))] = tally
        }
        return tallies
    }

    static func purges(_ database: borrowing Database) throws(StorageError) -> [StoredConnectionID] {
        var purges: [StoredConnectionID] = []
        let removed = try database.prepare("SELECT id FROM connections WHERE removed = 1 ORDER BY id")
        while try removed.next() { purges.append(StoredConnectionID(number: removed.integer(0))) }
        return purges
    }

    static func gaps(_ database: borrowing Database) throws(StorageError) -> [(id: Int64, gap: StoredGap)] {
        var gaps: [(id: Int64, gap: StoredGap)] = []
        let rows = try database.prepare("SELECT id, first, last, cause FROM gaps ORDER BY id")
        while try rows.next() {
            let (first, last) = (UInt64(clamping: rows.integer(1)), UInt64(clamping: rows.integer(2)))
            guard first <= last, let cause = StoredGap.Cause(rawValue: rows.integer(3)) else {
                throw StorageError(.damaged, path: database.path, detail: "a gap is wrong")
            }
            gaps.append((rows.integer(0), StoredGap(first...last, cause)))
        }
        return gaps
    }

    /// Everything but the records.
    func recovery(epoch: Epoch) throws(StorageError) -> StoreRecovery {
        let newest = try database.integer("SELECT seq FROM sqlite_sequence WHERE name = 'connections'") ?? 0
        var recovery = StoreRecovery(
            epoch: epoch,
            headSequence: head,
            nextConnection: StoredConnectionID(number: newest + 1)
        )
        recovery.gaps = gaps.map(\.gap)
        let names = try database.prepare("SELECT id, name FROM connections WHERE removed = 0 ORDER BY id")
        while try names.next() {
            let id = StoredConnectionID(number: names.integer(0))
            var connection = StoredConnection(id: id, name: names.text(1) ?? "")
            if let tally = tallies[id] {
                connection.history = tally.history
                connection.lastMessage = tally.lastMessage
            }
            recovery.connections.append(connection)
        }
        recovery.removed = try removed()
        for index in recovery.connections.indices {
            let id = recovery.connections[index].id
            recovery.connections[index].messages = try messages(of: id)
            recovery.connections[index].outcomes = try outcomes(of: id)
            recovery.connections[index].keys = try keys(of: id)
        }
        return recovery
    }

    private func removed() throws(StorageError) -> [StoredConnection] {
        var removed: [StoredConnection] = []
        let rows = try database.prepare(
            """
            SELECT id, name, recorded, newest, trimmed_at, unknown_through FROM connections AS one WHERE removed > 0
                AND NOT EXISTS (SELECT 1 FROM connections AS newer WHERE newer.name = one.name AND newer.id > one.id)
                ORDER BY id
            """
        )
        while try rows.next() {
            var connection = StoredConnection(
                id: StoredConnectionID(number: rows.integer(0)),
                name: rows.text(1) ?? ""
            )
            connection.history.recorded = UInt64(clamping: rows.integer(2))
            connection.history.newest = UInt64(clamping: rows.integer(3))
            connection.history.trimmed = connection.history.recorded
            connection.history.trimmedThrough = connection.history.newest
            connection.history.trimmedAt = WallTime(millisecondsSince1970: rows.integer(4))
            connection.history.unknownThrough = UInt64(clamping: rows.integer(5))
            removed.append(connection)
        }
        return removed
    }

    private func messages(of id: StoredConnectionID) throws(StorageError) -> [StoredMessage] {
        var messages: [StoredMessage] = []
        let rows = try database.prepare(
            "SELECT number, queued_at, kind, payload FROM outbox WHERE connection = ? ORDER BY number"
        )
        rows.begin(id.number)
        while try rows.next() {
            messages.append(
                StoredMessage(
                    number: UInt64(clamping: rows.integer(0)),
                    queuedAt: WallTime(millisecondsSince1970: rows.integer(1)),
                    message: Message(rows.integer(2) == 0 ? .text : .binary, rows.bytes(3))
                )
            )
        }
        return messages
    }

    private func outcomes(of id: StoredConnectionID) throws(StorageError) -> [StoredOutcome] {
        var outcomes: [StoredOutcome] = []
        let rows = try database.prepare(
            "SELECT number, queued_at, state, sent_at FROM outcomes WHERE connection = ? ORDER BY number"
        )
        rows.begin(id.number)
        while try rows.next() {
            let sentAt = WallTime(millisecondsSince1970: rows.integer(3))
            guard let state = MessageState(storedCode: rows.integer(2), sentAt: sentAt) else {
                throw StorageError(.damaged, path: database.path, detail: "the state of a message is wrong")
            }
            outcomes.append(
                StoredOutcome(
                    number: UInt64(clamping: rows.integer(0)),
                    queuedAt: WallTime(millisecondsSince1970: rows.integer(1)),
                    state: state
                )
            )
        }
        return outcomes
    }

    private func keys(of id: StoredConnectionID) throws(StorageError) -> [StoredKey] {
        var keys: [StoredKey] = []
        let rows = try database.prepare(
            """
            SELECT key, fingerprint, first_use, first_message, count, answer FROM idempotency_keys
            WHERE connection = ? ORDER BY place
            """
        )
        rows.begin(id.number)
        while try rows.next() {
            var key = StoredKey(
                key: rows.text(0) ?? "",
                fingerprint: rows.bytes(1),
                firstUse: WallTime(millisecondsSince1970: rows.integer(2)),
                firstMessage: UInt64(clamping: rows.integer(3)),
                count: max(0, Int(rows.integer(4)))
            )
            if let text = rows.text(5) {
                guard let states = MessageStates(text: text), states.count == key.count else {
                    throw StorageError(.damaged, path: database.path, detail: "the answer to a key is wrong")
                }
                key.answer = states
            }
            keys.append(key)
        }
        return keys
    }
}
