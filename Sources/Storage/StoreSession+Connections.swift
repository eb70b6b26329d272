internal import BridgeCore

/// Connections that come and go, within a transaction.
///
/// Of one that was removed a row stays, which tells what the next one of its name has as its past.
extension StoreSession {
    func add(
        _ id: StoredConnectionID,
        _ name: String,
        _ limits: HistoryLimits,
        _ past: StoredHistory
    ) throws(StorageError) {
        touch(id)
        if tallies[id] == nil {
            try statements.supersedeConnections.run(text: name)
            try statements.addConnection.run(text: name, id.number)
            tallies[id] = StoreTally()
            tallies[id]?.history = past
        }
        tallies[id]?.limits = limits
    }

    func remove(_ id: StoredConnectionID) throws(StorageError) {
        guard let tally = tallies[id] else { return }
        touch(id)
        willChangePurges()
        try write(tally, of: id)
        try statements.removeConnection.run(id.number)
        tallies[id] = nil
        purges.append(id)
    }

    /// Rows of removed connections that one transaction deletes at most, of each table.
    private static let purgeAtOnce: Int64 = 512

    /// What a connection has rows in, and what tells those apart.
    private static let purged = [
        ("records", "sequence"), ("outbox", "number"), ("outcomes", "number"), ("idempotency_keys", "place"),
    ]

    /// Deletes some of what removed connections have left.
    func purge() throws(StorageError) {
        guard let id = purges.first else { return }
        var isDone = true
        for (table, key) in StoreSession.purged {
            let statement = try database.prepare(
                """
                DELETE FROM \(table) WHERE connection = ?1 AND \(key) IN
                    (SELECT \(key) FROM \(table) WHERE connection = ?1 ORDER BY \(key) LIMIT ?2)
                """
            )
            try statement.run(id.number, StoreSession.purgeAtOnce)
            if database.changes > 0 { isDone = false }
        }
        guard isDone else { return }
        willChangePurges()
        try statements.leaveConnection.run(id.number)
        purges.removeFirst()
        try forgetPasts()
    }

    /// Forgets what is left of removed connections, where a newer one has it or there are too many.
    private func forgetPasts() throws(StorageError) {
        let surplus = try database.prepare(
            "SELECT id FROM connections WHERE removed = 2 ORDER BY id DESC LIMIT 1 OFFSET ?"
        )
        surplus.begin(StoreSession.mostPasts)
        let last = try surplus.next() ? surplus.integer(0) : 0
        surplus.end()
        try statements.noteForgotten.run(last)
        try statements.forgetConnections.run(last)
    }

    /// Removed connections of which it is known what their readers have lost, as many as the log remembers.
    private static let mostPasts: Int64 = 1024

    /// A connection that was removed has shown so much by now, of which nothing is kept.
    func pass(
        _ id: StoredConnectionID,
        _ sequence: UInt64,
        recorded: UInt64,
        _ time: Int64?
    ) throws(StorageError) {
        try statements.passRecord.run(id.number, Int64(clamping: recorded), Int64(clamping: sequence), time)
    }
}
