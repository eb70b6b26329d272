/// Which connection of the store each name has, and which ones nobody names at the moment.
package struct StoredConnections: Sendable {
    /// Those that nobody has named since the start, by name.
    private var unclaimed: [String: StoredConnection]
    private var next: Int64

    package init(_ recovery: StoreRecovery) {
        next = recovery.nextConnection.number
        unclaimed = Dictionary(recovery.connections.map { ($0.name, $0) }) { _, newer in newer }
    }

    /// What is known of the connection that now has this name; of one that is new nothing is.
    package mutating func claim(_ name: String) -> StoredConnection {
        if let known = unclaimed.removeValue(forKey: name) { return known }
        defer { next += 1 }
        return StoredConnection(id: StoredConnectionID(number: next), name: name)
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
