internal import BridgeCore

/// The connection of an answer without end that was taken away from libmicrohttpd: nothing but its socket is left.
///
/// There is one for each idle subscriber, so it is small.
final class DetachedStream: StreamChannel {
    let descriptor: Int32
    /// The daemon has let go of the connection.
    var isForgotten = false
    private var hasEnded = false
    private let address: ClientAddress
    private unowned let server: HTTPServer

    /// Takes over `descriptor`, which must be ended some time.
    init(_ descriptor: Int32, from address: ClientAddress, of server: HTTPServer) {
        self.descriptor = descriptor
        self.address = address
        self.server = server
    }

    var delivery: StreamDelivery { .direct }

    // Its owner watches the socket and writes; nobody else knows of it.
    func attach(_ source: any StreamSource) {}
    func wake() {}

    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        server.closing.close(descriptor, of: address)
    }
}
