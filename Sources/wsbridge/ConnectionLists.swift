internal import BridgeIO

/// Lists of the connections, each made when it is asked for: of many that change together each is a change.
struct ConnectionLists {
    fileprivate var names: [String]?
    fileprivate var sorted: [BridgedConnection]?
    fileprivate var onDemand: [BridgedConnection]?
}

extension Bridge {
    var connectionNames: [String] {
        let names = lists.names ?? Array(connections.keys)
        lists.names = names
        return names
    }

    /// By name, ascending.
    var sortedConnections: [BridgedConnection] {
        let sorted = lists.sorted ?? connections.values.sorted { $0.upstream.name < $1.upstream.name }
        lists.sorted = sorted
        return sorted
    }

    /// Those that have to know who reads them.
    var onDemandConnections: [BridgedConnection] {
        let onDemand = lists.onDemand ?? connections.values.filter(\.isOnDemand)
        lists.onDemand = onDemand
        return onDemand
    }
}
