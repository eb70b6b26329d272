/// The tables, and how older files become like new ones.
///
/// A script that was ever in a release never changes: what is to be different is one more script.
struct Schema {
    /// The first one makes version 1 of nothing, each further one the next version of the one before.
    var scripts: [String]

    /// What this program knows.
    static let current = Schema(scripts: [version1])

    /// "wsbr", which `file` and others find in the file's header.
    static let applicationID: Int64 = 0x7773_6272

    var version: Int { scripts.count }

    /// Brings a database to `version`.
    ///
    /// - Throws: if it is none of ours or too new; then it is as it was.
    func prepare(_ database: borrowing Database, at time: Int64) throws(StorageError) {
        try database.execute("BEGIN IMMEDIATE")
        do throws(StorageError) {
            try migrate(database, at: time)
            try database.execute("COMMIT")
        } catch {
            if database.isInTransaction { try? database.execute("ROLLBACK") }
            throw error
        }
    }

    private func migrate(_ database: borrowing Database, at time: Int64) throws(StorageError) {
        let found = try knownVersion(of: database)
        for next in found..<version {
            try database.execute(scripts[next])
            try database.execute(
                "INSERT INTO migrations (version, migrated_at) VALUES (\(next + 1), \(time))"
            )
        }
    }

    /// Which version a database has; 0: there is nothing in it.
    ///
    /// - Throws: if it is none of ours or too new.
    func knownVersion(of database: borrowing Database) throws(StorageError) -> Int {
        let found = try version(of: database)
        guard found <= version else {
            throw StorageError(.newer(version: found, known: version), path: database.path)
        }
        return found
    }

    private func version(of database: borrowing Database) throws(StorageError) -> Int {
        let application = try database.integer("PRAGMA application_id") ?? 0
        let tables = try database.integer("SELECT count(*) FROM sqlite_schema") ?? 0
        if application == 0, tables == 0 { return 0 }
        guard application == Schema.applicationID else {
            throw StorageError(.foreign, path: database.path, detail: "application id \(application)")
        }
        guard let version = try database.integer("SELECT max(version) FROM migrations"), version > 0 else {
            throw StorageError(.damaged, path: database.path, detail: "it has no version")
        }
        return Int(version)
    }

    private static let version1 = """
        PRAGMA application_id = \(applicationID);

        -- Which versions the file has had, and when it came to each (milliseconds since 1970, as all times here).
        CREATE TABLE migrations (version INTEGER PRIMARY KEY, migrated_at INTEGER NOT NULL) STRICT;

        -- One row: where ids go on.
        CREATE TABLE store (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            epoch INTEGER NOT NULL,     -- first half of the ids of events
            head INTEGER NOT NULL,      -- sequence of the newest record that was stored, kept or not
            reserved INTEGER NOT NULL,  -- no greater sequence was ever shown, even if a power cut took the record
            mark TEXT NOT NULL,         -- tells this file from copies of it, with the lock file
            boot TEXT NOT NULL,         -- which start of the machine it was last opened in
            clean INTEGER NOT NULL,     -- 1: it was closed by whoever had it last
            forgotten INTEGER NOT NULL  -- up to this sequence connections may have had records that nobody knows of any more
        ) STRICT;

        CREATE TABLE connections (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL,
            removed INTEGER NOT NULL DEFAULT 0,          -- 1: what it has is being deleted, 2: it is, and this row is left
            records INTEGER NOT NULL DEFAULT 0,          -- that are kept
            bytes INTEGER NOT NULL DEFAULT 0,            -- of their payloads
            recorded INTEGER NOT NULL DEFAULT 0,         -- records that there ever were
            newest INTEGER NOT NULL DEFAULT 0,           -- sequence of the newest of those
            skipped INTEGER NOT NULL DEFAULT 0,          -- up to the newest that could not be stored
            skipped_through INTEGER NOT NULL DEFAULT 0,  -- no such one has a greater sequence
            trimmed INTEGER NOT NULL DEFAULT 0,          -- of those, how many stood before the oldest that may be kept
            trimmed_through INTEGER NOT NULL DEFAULT 0,  -- sequence of the newest that was trimmed
            trimmed_at INTEGER NOT NULL DEFAULT 0,       -- when that was recorded
            unknown_through INTEGER NOT NULL DEFAULT 0,  -- others of its name may have had records up to this sequence
            last_message INTEGER NOT NULL DEFAULT 0      -- number of the newest message that was to be sent
        ) STRICT;
        CREATE INDEX connections_by_name ON connections (name, id);

        CREATE TABLE records (
            sequence INTEGER PRIMARY KEY,
            connection INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,  -- its number among all that its connection ever had, from 0
            time INTEGER NOT NULL,
            kind INTEGER NOT NULL,  -- 0 text, 1 binary, 2 status, 3 text that was sent, 4 binary that was sent
            topic TEXT,
            payload BLOB NOT NULL
        ) STRICT;
        CREATE INDEX records_of_connection ON records (connection, sequence);

        -- Sequences that were skipped because the process before had not closed the file.
        CREATE TABLE gaps (
            id INTEGER PRIMARY KEY,
            first INTEGER NOT NULL,
            last INTEGER NOT NULL,
            cause INTEGER NOT NULL  -- 0 it ended, 1 a power cut may have taken the newest records, 2 nothing could be stored
        ) STRICT;

        -- Messages that are to be sent.
        CREATE TABLE outbox (
            connection INTEGER NOT NULL,
            number INTEGER NOT NULL,
            queued_at INTEGER NOT NULL,
            kind INTEGER NOT NULL,  -- 0 text, 1 binary
            payload BLOB NOT NULL,
            PRIMARY KEY (connection, number)
        ) STRICT, WITHOUT ROWID;

        -- What became of others.
        CREATE TABLE outcomes (
            connection INTEGER NOT NULL,
            number INTEGER NOT NULL,
            queued_at INTEGER NOT NULL,
            state INTEGER NOT NULL,  -- 1 sent, 2 expired, 3 dropped
            sent_at INTEGER,
            PRIMARY KEY (connection, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE idempotency_keys (
            connection INTEGER NOT NULL,
            place INTEGER NOT NULL,  -- in the order in which they came
            key TEXT NOT NULL,
            fingerprint BLOB NOT NULL,
            first_use INTEGER NOT NULL,
            first_message INTEGER NOT NULL,
            count INTEGER NOT NULL,
            answer TEXT,             -- NULL: the first answer was not given
            PRIMARY KEY (connection, place)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX idempotency_keys_by_key ON idempotency_keys (connection, key);
        """
}
