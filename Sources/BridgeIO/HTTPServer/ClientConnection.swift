internal import BridgeCore
internal import CMicroHTTPD
internal import CUV
internal import Glibc

/// What is known of one client's connection beside what the daemon knows, from its acceptance to its end.
final class ClientConnection {
    let descriptor: Int32
    let address: ClientAddress
    /// What the deadline is about.
    var wait = RequestDeadlines.Wait.first
    /// When it is cut off, unless the client has done by then what it owes; nil: it owes nothing.
    var due: Instant?
    /// When to look next whether the client has closed its side; nil: that shows by itself, or does not matter.
    var look: Instant?
    /// Since when it has kept the bridge waiting for a request, or for the rest of one; nil: it does not.
    var silentSince: Instant?
    /// It is cut off to make room, and about to be gone.
    var isGivenUp = false
    /// Nobody is to wait for what it still sends.
    var isCut = false
    /// The client may not have sent all of the request that is answered, or was the last to be.
    var maySendMore = true
    /// The request that is under way; let go of when that ends.
    var exchange: Exchange?
    /// How much had come of its request, in parts, when it seemed to be stuck, and at how many looks.
    var standstill: (parts: Int, looks: Int)?
    /// It has been looked at once an answer was out.
    var wasLookedAt = false
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

extension ClientConnection {
    /// What waits in its socket, as far as a look tells.
    enum Waiting {
        case something, nothing
        /// The client has closed its side, or is gone.
        case end
    }

    /// What is to be read next from its socket.
    var waiting: Waiting {
        var byte: UInt8 = 0
        let count = unsafe recv(descriptor, &byte, 1, WSB_MSG_DONTWAIT | WSB_MSG_PEEK)
        if count > 0 { return .something }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .end
    }

    /// Has the daemon look at a socket whose end it does not know of.
    ///
    /// It is told of news alone, and takes an end that comes with the last bytes for a part of these. Nothing is lost by
    /// this where the client has closed its side.
    func tellOfEnd() {
        shutdown(descriptor, Int32(SHUT_RD))
    }
}

extension ClientAddress {
    init(_ address: UnsafePointer<sockaddr>?) {
        self = unsafe SocketAddress(copying: address).map { ClientAddress(host: $0.host) } ?? .unix
    }
}
