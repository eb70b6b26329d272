import BridgeCore
import Testing

/// Where a client is.
@Suite struct `The address of a client` {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("::ffff:127.0.0.1", "127.0.0.1"), ("::ffff:7f00:1", "::ffff:7f00:1"),
        ("::1", "::1"), ("fe80::ffff:1.2.3.4", "fe80::ffff:1.2.3.4"),
    ])
    func `is one of IPv4 also on a socket of IPv6`(host: String, text: String) {
        #expect(ClientAddress(host: host) == .ip(text))
    }
}
