internal import CSQLite
internal import Glibc

/// A connection of SQLite's to a file in WAL mode, used by one thread at a time.
///
/// One that reads never checkpoints, nor does SQLite by itself: that is left to the connection that writes, so that
/// SQLite's WAL-reset bug (before 3.51.3) cannot bite, for which two connections have to meet.
@safe struct Database: ~Copyable {
    enum Access {
        case writing
        /// Beside a connection that writes, which has opened the file before.
        case reading
    }

    let path: String
    private let handle: OpaquePointer
    /// Pages that are in the log, as of the last commit; the C callback's only state, which this value owns.
    private let logPages: UnsafeMutablePointer<CInt>

    /// Opens a file, which must exist; `vfs` names another file system of SQLite's, for tests.
    init(_ path: String, _ access: Access, vfs: String? = nil) throws(StorageError) {
        try Database.load(for: path)
        var opened: OpaquePointer?
        let flags =
            switch access {
            case .writing: SQLITE_OPEN_READWRITE
            case .reading: SQLITE_OPEN_READONLY
            }
        // NOMUTEX: no two threads use it at a time.
        let status = unsafe sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, vfs)
        guard let handle = unsafe opened else {
            throw StorageError(.failing, path: path, detail: "out of memory")
        }
        guard status == SQLITE_OK else {
            let failure = unsafe StorageError(
                code: status,
                systemError: sqlite3_system_errno(handle),
                path: path
            )
            unsafe sqlite3_close_v2(handle)
            throw failure
        }
        self.path = path
        unsafe self.handle = handle
        unsafe logPages = .allocate(capacity: 1)
        unsafe logPages.initialize(to: 0)
        unsafe sqlite3_extended_result_codes(handle, 1)
        unsafe sqlite3_busy_timeout(handle, Database.patience)
        if case .reading = access {
            leaveLog()
        }
        // This takes the place of SQLite's own hook, which checkpoints; a pragma about that would take this one's.
        // The cell lives as long as the connection: `deinit` frees it after closing.
        unsafe sqlite3_wal_hook(
            handle,
            { cell, _, _, pages in
                unsafe cell?.assumingMemoryBound(to: CInt.self).pointee = pages
                return SQLITE_OK
            },
            logPages
        )
    }

    /// Loads SQLite, the first time.
    ///
    /// Opening does so as well; who makes or reads files before that asks first. `path` is what needs it.
    static func load(for path: String) throws(StorageError) {
        guard let fault = unsafe wsbridge_sqlite_load() else { return }
        throw unsafe StorageError(.noLibrary, path: path, detail: String(cString: fault))
    }

    deinit {
        // Statements that are still there finish it when they go.
        unsafe sqlite3_close_v2(handle)
        unsafe logPages.deallocate()
    }

    /// Milliseconds for which somebody else may hold the file, such as an operator at the `sqlite3` shell.
    private static let patience: CInt = 2000

    /// Pages in the log that a checkpoint would bring into the file.
    var pagesInLog: Int { unsafe Int(logPages.pointee) }

    /// The file is not any more where it was opened.
    var hasMoved: Bool { unsafe wsbridge_sqlite_has_moved(handle) != 0 }

    /// Where its log is.
    var logPath: String { path + "-wal" }

    /// How long the log has to be, in bytes, as of the last commit.
    ///
    /// What is in the file already counts as long as the log was not begun anew; its pages have the size that a
    /// database of ours has.
    var logSize: Int64 {
        let frames = unsafe Int64(wsbridge_sqlite_log_frames(handle))
        return frames == 0 ? 0 : Database.logHeader + frames * (Database.frameHeader + Database.pageSize)
    }

    static let pageSize: Int64 = 4096
    private static let logHeader: Int64 = 32
    private static let frameHeader: Int64 = 24

    /// Has the log be left as it is when this is closed, since what is in it is not what it should be.
    func leaveLog() {
        _ = unsafe wsbridge_sqlite_configure(handle, CInt(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE), 1)
    }

    /// A transaction is open: it was begun, and SQLite has not rolled it back by itself.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// Rows that the statement before has changed.
    var changes: Int { unsafe Int(sqlite3_changes64(handle)) }

    /// Runs statements that return nothing of interest.
    func execute(_ sql: String) throws(StorageError) {
        try check(unsafe sqlite3_exec(handle, sql, nil, nil, nil))
    }

    func prepare(_ sql: String) throws(StorageError) -> Statement {
        var statement: OpaquePointer?
        try check(
            unsafe sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        )
        guard let statement = unsafe statement else {
            throw StorageError(.failing, path: path, detail: "a statement is empty")
        }
        return unsafe Statement(statement, path: path)
    }

    /// The first column of the first row; nil if there is none.
    func integer(_ sql: String) throws(StorageError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.next() ? statement.integer(0) : nil
    }

    /// As `integer`, as text.
    func text(_ sql: String) throws(StorageError) -> String? {
        let statement = try prepare(sql)
        return try statement.next() ? statement.text(0) : nil
    }

    /// Makes all that was committed safe from a power cut.
    ///
    /// It does what SQLite does at each commit with `synchronous=FULL`.
    func sync() throws(StorageError) {
        guard let file = unsafe wsbridge_sqlite_log(handle) else { return }
        let status = unsafe wsbridge_sqlite_sync(file)
        guard status != SQLITE_OK else { return }
        throw StorageError(code: status, systemError: errno, path: path)
    }

    /// Brings what is in the log into the file, as far as readers allow, and syncs both.
    ///
    /// Returns how many pages it had to leave in the log.
    @discardableResult func checkpoint(truncating: Bool = false) throws(StorageError) -> Int {
        let mode = truncating ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        var pages: CInt = 0
        var done: CInt = 0
        try check(unsafe sqlite3_wal_checkpoint_v2(handle, nil, mode, &pages, &done))
        unsafe logPages.pointee = pages - done
        return Int(pages - done)
    }

    /// Looks at every page, and throws if one is wrong; what it tells of are the first findings.
    func verify() throws(StorageError) {
        let rows = try prepare("PRAGMA quick_check(\(Database.mostFindings))")
        var findings: [String] = []
        while try rows.next() { findings.append(rows.text(0) ?? "") }
        guard findings != ["ok"] else { return }
        // SQLite gives several lines in one, the first of which is a heading.
        let lines = findings.flatMap { $0.split(separator: "\n") }.filter { !$0.hasPrefix("***") }
        let first = lines.prefix(Database.mostFindings)
        throw StorageError(.damaged, path: path, detail: first.joined(separator: "; "))
    }

    private static let mostFindings = 3

    private func check(_ status: CInt) throws(StorageError) {
        guard status != SQLITE_OK else { return }
        throw unsafe StorageError(code: status, systemError: sqlite3_system_errno(handle), path: path)
    }
}
