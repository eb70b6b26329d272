import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `Connections of clients` {
    private func file(_ urls: [String: String], dynamic: Bool = true) throws -> BridgeConfiguration {
        var configuration = BridgeConfiguration()
        configuration.http.dynamicConnections = dynamic
        configuration.connections = try urls.mapValues { ConnectionConfiguration(url: try WebSocketURL($0)) }
        return configuration
    }

    private func clients(_ urls: [String: String]) throws -> ClientConnections {
        var clients = ClientConnections()
        for (name, url) in urls { clients.put(name, ConnectionConfiguration(url: try WebSocketURL(url))) }
        return clients
    }

    @Test func `stay beside those of a file that is read again`() throws {
        var clients = try clients(["b": "ws://b"])
        #expect(clients.complete(try file(["a": "ws://a"])) == (try file(["a": "ws://a", "b": "ws://b"])))
    }

    @Test func `give way to what the file says under the same name, for good`() throws {
        var clients = try clients(["a": "ws://client", "b": "ws://b"])
        #expect(clients.complete(try file(["a": "ws://a"])) == (try file(["a": "ws://a", "b": "ws://b"])))
        #expect(clients.complete(try file([:])) == (try file(["b": "ws://b"])))
    }

    @Test func `end, for good, when the file allows for none any more`() throws {
        var clients = try clients(["b": "ws://b"])
        let plain = try file(["a": "ws://a"], dynamic: false)
        #expect(clients.complete(plain) == plain)
        #expect(clients.complete(try file(["a": "ws://a"])) == (try file(["a": "ws://a"])))
    }

    @Test func `that were removed do not come back`() throws {
        var clients = try clients(["b": "ws://b", "c": "ws://c"])
        clients.remove("b")
        #expect(clients.complete(try file([:])) == (try file(["c": "ws://c"])))
    }

    @Test func `stay as far as there is room`() throws {
        let most = BridgeConfiguration.mostConnections
        let names = (1..<most).map { "f\($0)" }
        let full = try file(Dictionary(uniqueKeysWithValues: names.map { ($0, "ws://f") }))
        var clients = try clients(["b": "ws://b", "c": "ws://c"])
        let whole = clients.complete(full)
        #expect(whole.connections.count == most)
        #expect(whole.connections["b"] != nil)
        #expect(clients == (try self.clients(["b": "ws://b"])))
    }
}
