internal import Glibc

/// What there is of a store before it is opened, and whether that can be all.
struct StoreRemains {
    let database: String
    /// In bytes; nil: there is none.
    let databaseSize: Int?
    /// Something is in its log.
    let hasLog: Bool
    /// The lock file tells of a store that was here.
    let wasThere: Bool

    init(of database: String, _ note: StoreDirectory.Note?) {
        self.database = database
        databaseSize = StoreRemains.size(of: database)
        hasLog = StoreRemains.size(of: database + "-wal") ?? 0 > 0
        // Who moves the database away wants to begin anew.
        wasThere = databaseSize != nil && note?.marks.isEmpty == false
    }

    /// SQLite would take what is left for a new database, and delete a log that belongs to none.
    ///
    /// - Throws: `damaged`, if there was more.
    func check() throws(StorageError) {
        if databaseSize == nil, hasLog { throw damaged("it is not there, and its -wal file is") }
        // No database is as small as one byte, which SQLite counts as none.
        if databaseSize == 1 { throw damaged("it is cut off") }
        if databaseSize == 0, wasThere { throw emptied }
    }

    /// What was in it is gone.
    var emptied: StorageError { damaged("it is empty and was not before") }

    private func damaged(_ detail: String) -> StorageError {
        StorageError(.damaged, path: database, detail: detail)
    }

    private static func size(of path: String) -> Int? {
        var found = stat()
        guard unsafe stat(path, &found) == 0 else { return nil }
        return Int(found.st_size)
    }
}
