internal import BridgeCore

/// Those that take records, each by a filter, found by the connections whose records they take.
struct TakerTable<Taker: AnyObject> {
    private struct Takers {
        var all: [Taker] = []
        var filters: [StreamFilter] = []
        /// How they are asked together; made when the first record comes after a change.
        var set: FilterSet?
    }

    private var takers: [ConnectionIndex: Takers] = [:]

    /// Those that may take records of this connection.
    subscript(connection: ConnectionIndex) -> [Taker] { takers[connection]?.all ?? [] }

    /// Those that take this record.
    mutating func all(of record: Record) -> [Taker] {
        guard let asked = takers[record.connection] else { return [] }
        let set = asked.set ?? FilterSet(asked.filters)
        if asked.set == nil { takers[record.connection]?.set = set }
        var taking: [Taker] = []
        set.forEachAccepting(record) { taking.append(asked.all[$0]) }
        return taking
    }

    mutating func add(_ taker: Taker, _ filter: StreamFilter) {
        for connection in filter.connections.indices {
            takers[connection, default: Takers()].all.append(taker)
            takers[connection]?.filters.append(filter)
            takers[connection]?.set = nil
        }
    }

    /// Takes out what was added with this filter; idempotent.
    mutating func remove(_ taker: Taker, _ filter: StreamFilter) {
        for connection in filter.connections.indices {
            guard let place = takers[connection]?.all.firstIndex(where: { $0 === taker }) else { continue }
            takers[connection]?.all.remove(at: place)
            takers[connection]?.filters.remove(at: place)
            takers[connection]?.set = nil
            if takers[connection]?.all.isEmpty ?? false { takers[connection] = nil }
        }
    }
}
