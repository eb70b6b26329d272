/// Notices when somebody deletes, replaces or cuts the log of a database that is in use.
///
/// SQLite itself goes on with the file that it has opened, be that at its path or not: it would be gone at the end.
struct LogWatch {
    private let identity: FileIdentity?

    /// What has become of a log.
    enum Finding {
        /// It is there, and as long as it has to be.
        case whole
        /// It is not at its path any more; all that is in it can still be read.
        case gone
        /// It is there, and what was in it is not.
        case cut
    }

    /// Watches the log of a database that has been read, for SQLite opens it then.
    init(_ database: borrowing Database) {
        identity = FileIdentity(at: database.logPath)
    }

    func look(at database: borrowing Database) -> Finding {
        guard let found = FileIdentity(at: database.logPath), found == identity else { return .gone }
        return found.size < database.logSize ? .cut : .whole
    }
}
