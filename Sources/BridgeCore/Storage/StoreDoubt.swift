/// What is odd about a store that was opened, and may mean that something is lost.
package enum StoreDoubt: Equatable, Sendable {
    /// Another database was there last, of which this may be a copy.
    case another
    /// The process before was killed, and the log that it left is not there.
    case logMissing

    /// One sentence for the log.
    package var text: String {
        switch self {
        case .another:
            "another database was in the storage directory before: what is in this one goes on with new ids"
        case .logMissing:
            "the -wal file of the store is missing: what was not in its database yet is lost, unless SQLite took it in"
        }
    }
}
