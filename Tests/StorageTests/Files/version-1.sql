-- A store of version 1, as the first program that had one left it: two connections, a third one that was being removed, records
-- of each kind, a gap, messages that wait and that do not, and keys. It is never changed: newer programs have to understand it.
PRAGMA application_id = 2004050546;

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

INSERT INTO migrations VALUES (1, 1764542000000);
INSERT INTO store VALUES (1, 1234567890123, 9, 9, 'mark', 'boot', 1, 0);
INSERT INTO connections VALUES (1, 'orders', 0, 3, 45, 5, 8, 0, 0, 2, 2, 1764542000002, 0, 5);
INSERT INTO connections VALUES (2, 'trades', 0, 2, 5, 2, 6, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO connections VALUES (4, 'gone', 1, 1, 1, 1, 9, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO records VALUES (3, 1, 2, 1764542000003, 0, 'a.b', X'68656C6C6F');
INSERT INTO records VALUES (4, 2, 0, 1764542000004, 1, NULL, X'00FF');
INSERT INTO records VALUES (5, 1, 3, 1764542000005, 2, NULL, CAST('{"type":"gave-up","attempts":3}' AS BLOB));
INSERT INTO records VALUES (6, 2, 1, 1764542000006, 3, NULL, X'6F7574');
INSERT INTO records VALUES (8, 1, 4, 1764542000008, 4, NULL, X'010203040506070809');
INSERT INTO records VALUES (9, 4, 0, 1764542000009, 0, NULL, X'78');
INSERT INTO gaps VALUES (1, 7, 7, 1);
INSERT INTO outbox VALUES (1, 3, 1764542000010, 0, X'7468726565');
INSERT INTO outbox VALUES (1, 5, 1764542000011, 1, X'');
INSERT INTO outbox VALUES (4, 1, 1764542000011, 1, X'');
INSERT INTO outcomes VALUES (1, 1, 1764542000012, 1, 1764542000013);
INSERT INTO outcomes VALUES (1, 2, 1764542000012, 2, NULL);
INSERT INTO outcomes VALUES (1, 4, 1764542000012, 3, NULL);
INSERT INTO idempotency_keys VALUES (1, 1, 'first', X'0102', 1764542000012, 1, 2, '1 sent 1764542000013;1 queued');
INSERT INTO idempotency_keys VALUES (1, 2, 'second', X'03', 1764542000012, 3, 1, NULL);
