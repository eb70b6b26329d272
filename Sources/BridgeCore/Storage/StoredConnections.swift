/// Which connection of the store each name has, and which ones nobody names at the moment.
package struct StoredConnections: Sendable {
    /// Those that nobody has named since the start, by name.
    private var unclaimed: [String: StoredConnection]
    /// What those that were removed leave to the next one of their name, if it is the first since the start.
    private var pasts: [String: StoredHistory]
    private let forgottenThrough: UInt64
    private var next: Int64

    package init(_ recovery: StoreRecovery) {
        next = recovery.nextConnection.number
        unclaimed = Dictionary(recovery.connections.map { ($0.name, $0) }) { _, newer in newer }
        pasts = Dictionary(recovery.removed.map { ($0.name, $0.history) }) { _, newer in newer }
        forgottenThrough = recovery.forgottenThrough
    }

    /// What is known of the connection that now has this name; of one that is new, what others of its name had.
    package mutating func claim(_ name: String) -> StoredConnection {
        if let known = unclaimed.removeValue(forKey: name) { return known }
        defer { next += 1 }
        var new = StoredConnection(id: StoredConnectionID(number: next), name: name)
        if let past = pasts.removeValue(forKey: name) {
            new.history = past
        } else {
            new.history.unknownThrough = forgottenThrough
        }
        return new
    }

    /// Gives up one that nobody has named; nil: there is none of this name.
    package mutating func forget(_ name: String) -> StoredConnectionID? {
        unclaimed.removeValue(forKey: name)?.id
    }

    /// Those that nobody has named, in the order of their names.
    package var leftOver: [StoredConnection] {
        unclaimed.values.sorted { $0.name < $1.name }
    }
}
