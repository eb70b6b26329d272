/// The connections that clients made or changed, beside those that the configuration file has.
package struct ClientConnections: Equatable, Sendable {
    private var connections: [String: ConnectionConfiguration] = [:]

    package init() {}

    package mutating func put(_ name: String, _ connection: ConnectionConfiguration) {
        connections[name] = connection
    }

    package mutating func remove(_ name: String) {
        connections[name] = nil
    }

    /// What a file that was read again and these make together.
    ///
    /// The file has the last word: what it names is as it says, and without `dynamicConnections` it names all there
    /// are. What does not stay is forgotten, as is what there is no room for.
    package mutating func complete(_ file: BridgeConfiguration) -> BridgeConfiguration {
        let room = max(0, BridgeConfiguration.mostConnections - file.connections.count)
        let names = connections.keys.filter { file.connections[$0] == nil }.sorted()
        let staying = Set(file.http.dynamicConnections ? Array(names.prefix(room)) : [])
        connections = connections.filter { staying.contains($0.key) }
        var whole = file
        whole.connections.merge(connections) { named, _ in named }
        return whole
    }
}
