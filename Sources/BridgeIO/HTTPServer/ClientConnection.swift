internal import BridgeCore
internal import CMicroHTTPD
internal import Glibc

/// What is known of one client's connection beside what the daemon knows, from its acceptance to its end.
final class ClientConnection {
    let descriptor: Int32
    let address: ClientAddress
    /// When it is cut off, unless the client has done by then what it owes; nil: it owes nothing.
    var due: Instant?
    /// Since when it has kept the bridge waiting for a request, or for the rest of one; nil: it does not.
    var silentSince: Instant?
    /// It is cut off to make room, and about to be gone.
    var isGivenUp = false
    /// Its place in the list of `RequestDeadlines`.
    var place = 0
    /// It came when there was no room.
    var isCrowded = false
    /// The last head of its that passed; it needs none while it has a stream.
    var lastHead: AdmittedHead?
    /// What its socket has become, if it was taken away from the daemon.
    var detached: DetachedStream?
    /// Its socket outlives the daemon's connection: whoever has it gives its room back.
    var hasOwnSocket = false

    init(_ connection: OpaquePointer) {
        descriptor = unsafe wsbridge_connection_descriptor(connection)
        address = unsafe ClientAddress(wsbridge_client_address(connection))
    }
}

extension ClientAddress {
    init(_ address: UnsafePointer<sockaddr>?) {
        self = unsafe SocketAddress(copying: address).map { ClientAddress(host: $0.host) } ?? .unix
    }
}
