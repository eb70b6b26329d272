internal import BridgeCore
internal import CMicroHTTPD

/// What is known of one client's connection beside what the daemon knows, from its acceptance to its end.
final class ClientConnection {
    let descriptor: Int32
    let address: ClientAddress
    /// When it is cut off, unless the client has done by then what it owes; nil: it owes nothing.
    var due: Instant?
    /// Its place in the list of `RequestDeadlines`.
    var place = 0
    /// It came when there was no room.
    var isCrowded = false

    init(_ connection: OpaquePointer) {
        descriptor = unsafe wsbridge_connection_descriptor(connection)
        let address = unsafe SocketAddress(copying: wsbridge_client_address(connection))
        self.address = address.map { .ip($0.host) } ?? .unix
    }
}
