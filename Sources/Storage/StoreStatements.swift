/// The statements of a session that writes, prepared once.
final class StoreStatements {
    let begin: Statement
    let commit: Statement
    let rollback: Statement
    let setHead: Statement

    let addRecord: Statement
    let oldestRecords: Statement
    let trimRecords: Statement

    let addConnection: Statement
    let setConnection: Statement
    let supersedeConnections: Statement
    let removeConnection: Statement
    let passRecord: Statement
    let leaveConnection: Statement
    let noteForgotten: Statement
    let forgetConnections: Statement

    let addMessage: Statement
    /// `messagesAtOnce` rows.
    let addMessages: Statement
    let takeMessages: Statement
    let addOutcomes: Statement
    let oldestOutcomes: Statement
    let trimOutcomes: Statement
    let withdrawOutcomes: Statement

    let addKey: Statement
    let answerKey: Statement
    let deleteKey: Statement
    let trimKeys: Statement
    let expireKeys: Statement

    let addGap: Statement
    let deleteGap: Statement

    /// To begin and end a statement costs as much as half a row.
    static let messagesAtOnce = 8

    init(_ database: borrowing Database) throws(StorageError) {
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        rollback = try database.prepare("ROLLBACK")
        setHead = try database.prepare("UPDATE store SET head = ?, reserved = ?")

        addRecord = try database.prepare(
            """
            INSERT INTO records (topic, sequence, connection, ordinal, time, kind, payload)
                VALUES (?, ?, ?, ?, ?, ?, ?)
            """
        )
        oldestRecords = try database.prepare(
            """
            SELECT sequence, time, length(payload), ordinal FROM records WHERE connection = ? ORDER BY sequence
                LIMIT ?
            """
        )
        trimRecords = try database.prepare("DELETE FROM records WHERE connection = ? AND sequence <= ?")

        addConnection = try database.prepare("INSERT INTO connections (name, id) VALUES (?, ?)")
        setConnection = try database.prepare(
            """
            UPDATE connections SET records = ?, bytes = ?, recorded = ?, newest = ?, skipped = ?,
                skipped_through = ?, trimmed = ?, trimmed_through = ?, trimmed_at = ?, unknown_through = ?, last_message = ?
                WHERE id = ?
            """
        )
        // What a new one has as its past includes theirs.
        supersedeConnections = try database.prepare("DELETE FROM connections WHERE name = ? AND removed = 2")
        removeConnection = try database.prepare(
            """
            UPDATE connections SET removed = 1, trimmed = recorded, trimmed_through = newest, trimmed_at =
                coalesce((SELECT time FROM records WHERE connection = ?1 ORDER BY sequence DESC LIMIT 1), trimmed_at)
                WHERE id = ?1
            """
        )
        passRecord = try database.prepare(
            """
            UPDATE connections SET recorded = ?2, newest = ?3, trimmed = ?2, trimmed_through = ?3,
                trimmed_at = coalesce(?4, trimmed_at) WHERE id = ?1 AND removed > 0
            """
        )
        leaveConnection = try database.prepare("UPDATE connections SET removed = 2 WHERE id = ?")
        noteForgotten = try database.prepare(
            """
            UPDATE store SET forgotten = max(forgotten, coalesce((SELECT max(max(newest, unknown_through))
                FROM connections WHERE removed = 2 AND id <= ?), 0))
            """
        )
        forgetConnections = try database.prepare(
            """
            DELETE FROM connections WHERE removed = 2 AND (id <= ? OR EXISTS
                (SELECT 1 FROM connections AS newer WHERE newer.name = connections.name AND newer.id > connections.id))
            """
        )

        addMessage = try database.prepare(
            "INSERT OR REPLACE INTO outbox (connection, number, queued_at, kind, payload) VALUES (?, ?, ?, ?, ?)"
        )
        // A statement of several rows that may fail at one of them keeps a journal, unless that undoes the transaction.
        let row = "(?, ?, ?, ?, ?)"
        let rows = Array(repeating: row, count: StoreStatements.messagesAtOnce).joined(separator: ", ")
        addMessages = try database.prepare(
            "INSERT OR ROLLBACK INTO outbox (connection, number, queued_at, kind, payload) VALUES \(rows)"
        )
        takeMessages = try database.prepare(
            "DELETE FROM outbox WHERE connection = ? AND number >= ? AND number < ?"
        )
        addOutcomes = try database.prepare(
            """
            INSERT OR REPLACE INTO outcomes (connection, number, queued_at, state, sent_at)
                SELECT connection, number, queued_at, ?4, ?5 FROM outbox
                WHERE connection = ?1 AND number >= ?2 AND number < ?3
            """
        )
        oldestOutcomes = try database.prepare(
            "SELECT number FROM outcomes WHERE connection = ? ORDER BY number LIMIT 1 OFFSET ?"
        )
        // A query within it would have the rows gathered before the first one goes.
        trimOutcomes = try database.prepare("DELETE FROM outcomes WHERE connection = ? AND number < ?")
        withdrawOutcomes = try database.prepare(
            "DELETE FROM outcomes WHERE connection = ? AND number >= ? AND number < ?"
        )

        addKey = try database.prepare(
            """
            INSERT INTO idempotency_keys
                (key, connection, place, first_use, first_message, count, fingerprint) VALUES (?, ?, ?, ?, ?, ?, ?)
            """
        )
        answerKey = try database.prepare(
            """
            UPDATE idempotency_keys SET answer = ?3 WHERE key = ?1 AND connection = ?2 AND answer IS NULL
            """
        )
        deleteKey = try database.prepare("DELETE FROM idempotency_keys WHERE key = ? AND connection = ?")
        trimKeys = try database.prepare(
            """
            DELETE FROM idempotency_keys WHERE connection = ?1 AND place IN
                (SELECT place FROM idempotency_keys WHERE connection = ?1 ORDER BY place LIMIT ?2)
            """
        )
        expireKeys = try database.prepare(
            """
            DELETE FROM idempotency_keys WHERE connection = ?1 AND first_use < ?2 AND place IN
                (SELECT place FROM idempotency_keys WHERE connection = ?1 ORDER BY place LIMIT ?3)
            """
        )

        addGap = try database.prepare("INSERT INTO gaps (id, first, last, cause) VALUES (?, ?, ?, ?)")
        deleteGap = try database.prepare("DELETE FROM gaps WHERE id = ?")
    }
}
