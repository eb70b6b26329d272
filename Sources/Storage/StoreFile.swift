internal import BridgeCore

/// The database file of a store: opening it, with all that has to be found out about its past.
struct StoreFile {
    let directory: StoreDirectory
    let options: StoreOptions

    /// What is known of the file once it was opened.
    struct Opening {
        var session: StoreSession
        var recovery: StoreRecovery
    }

    /// What stands in the one row of `store`.
    private struct Past {
        var epoch: Epoch
        var head: UInt64 = 0
        var reserved: UInt64 = 0
        var mark = ""
        var boot = ""
        var isClean = true
        var forgotten: UInt64 = 0
    }

    /// Opens the file for the first time in this process, and finds out what is lost.
    func open(random: inout some RandomNumberGenerator) throws(StorageError) -> Opening {
        let remains = directory.remains
        let database = try connect()
        // Made again it would look as if there had been nothing.
        if remains.wasThere, try options.schema.knownVersion(of: database) == 0 { throw remains.emptied }
        try options.schema.prepare(database, at: options.clock.wall().millisecondsSince1970)
        let found = try past(database)
        if remains.wasThere, found == nil { throw remains.emptied }
        var past = found ?? Past(epoch: Epoch(startedAt: options.clock.wall(), random: &random))
        let oldMark = try mark(past, database)
        let note = directory.note
        let isKnown = found != nil && note?.marks.contains(oldMark) == true
        let hasUnstored = note?.hasUnstored == true
        if found != nil, !isKnown {
            // Its ids may have been given to others after it was copied.
            past.epoch = Epoch(startedAt: options.clock.wall(), random: &random)
        }
        var doubts: [StoreDoubt] = remains.wasThere && !isKnown ? [.another] : []
        var gap: StoredGap?
        if !past.isClean {
            if isKnown, !remains.hasLog { doubts.append(.logMissing) }
            let isSameBoot = !past.boot.isEmpty && past.boot == options.boot && !doubts.contains(.logMissing)
            if !isSameBoot { try database.verify() }
            if past.reserved > past.head {
                // More may have been shown than is there: by a power cut, or while nothing could be written.
                let cause: StoredGap.Cause = hasUnstored ? .unstored : .end
                gap = StoredGap(past.head + 1...past.reserved, isSameBoot ? cause : .powerCut)
                past.head = past.reserved
            }
        }
        past.reserved = past.head + StoreSession.reservation
        past.mark = String(random.next(), radix: 36)
        past.boot = options.boot ?? ""
        past.isClean = false
        let mark = try mark(past, database)
        // Whoever is killed meanwhile leaves a database with one of these marks.
        if isKnown { try directory.write(marks: [oldMark, mark], hasUnstored: hasUnstored) }
        try write(past, database)
        let epoch = past.epoch
        let session = try StoreSession(database, head: past.head, reserved: past.reserved)
        if let gap {
            try session.transact(at: options.clock.wall()) { session throws(StorageError) in
                try session.add(gap)
            }
        }
        try session.sync()
        // Before the lock file tells of the database, it is there whatever happens.
        try directory.sync()
        try directory.write(marks: [mark])
        var recovery = try session.recovery(epoch: epoch)
        recovery.doubts = doubts
        recovery.forgottenThrough = past.forgotten
        return Opening(session: session, recovery: recovery)
    }

    /// Opens the file again after something failed, to go on where `session` was.
    ///
    /// The old session must not be used afterwards.
    func reopen(_ old: StoreSession) throws(StorageError) -> StoreSession {
        _ = try directory.keepLock()
        let database = try connect()
        guard let past = try past(database), directory.written.marks.contains(try mark(past, database)) else {
            let detail = "there is another one in its place, or another process has written to it"
            throw StorageError(.moved, path: directory.database, detail: detail)
        }
        let head = max(old.head, past.head)
        return try StoreSession(database, head: head, reserved: past.reserved, replacing: old)
    }

    /// Has the file say that nothing is missing, and brings everything into it.
    func close(_ session: StoreSession, random: inout some RandomNumberGenerator) throws(StorageError) {
        guard var past = try past(session.database) else { return }
        let oldMark = try mark(past, session.database)
        past.head = session.head
        past.reserved = session.head
        past.mark = String(random.next(), radix: 36)
        past.isClean = true
        let mark = try mark(past, session.database)
        try directory.write(marks: [oldMark, mark])
        try write(past, session.database)
        try session.sync()
        try directory.write(marks: [mark])
        try session.database.checkpoint(truncating: true)
    }

    private func connect() throws(StorageError) -> Database {
        let database = try Database(directory.database, .writing, vfs: options.vfs)
        try database.execute(StoreFile.settings)
        let mode = try database.text("PRAGMA journal_mode = WAL")
        guard mode == "wal" else {
            let detail = "its file system cannot share memory between processes"
            throw StorageError(.notWritable, path: directory.database, detail: detail)
        }
        return database
    }

    /// See decision 27.
    private static let settings = """
        PRAGMA page_size = \(Database.pageSize);
        PRAGMA synchronous = NORMAL;
        PRAGMA journal_size_limit = 16777216;
        PRAGMA cache_size = -2048;
        PRAGMA mmap_size = 0;
        PRAGMA secure_delete = OFF;
        PRAGMA temp_store = MEMORY;
        PRAGMA cell_size_check = ON;
        PRAGMA trusted_schema = OFF;
        """

    /// What the lock file says of a database; a copy that SQLite made of it has another version of its schema.
    private func mark(_ past: Past, _ database: borrowing Database) throws(StorageError) -> String {
        "\(past.mark) \(try database.integer("PRAGMA schema_version") ?? 0)"
    }

    /// Nil: it is new.
    private func past(_ database: borrowing Database) throws(StorageError) -> Past? {
        let row = try database.prepare(
            "SELECT epoch, head, reserved, mark, boot, clean, forgotten FROM store"
        )
        guard try row.next() else { return nil }
        return Past(
            epoch: Epoch(bits: UInt64(clamping: row.integer(0))),
            head: UInt64(clamping: row.integer(1)),
            reserved: UInt64(clamping: row.integer(2)),
            mark: row.text(3) ?? "",
            boot: row.text(4) ?? "",
            isClean: row.integer(5) != 0,
            forgotten: UInt64(clamping: row.integer(6))
        )
    }

    private func write(_ past: Past, _ database: borrowing Database) throws(StorageError) {
        let statement = try database.prepare(
            """
            INSERT OR REPLACE INTO store (id, epoch, head, reserved, clean, forgotten, boot, mark)
                VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """
        )
        statement.bind(past.boot, at: 6)
        statement.bind(past.mark, at: 7)
        try statement.run(
            Int64(clamping: past.epoch.bits),
            Int64(clamping: past.head),
            Int64(clamping: past.reserved),
            past.isClean ? 1 : 0,
            Int64(clamping: past.forgotten)
        )
    }
}
