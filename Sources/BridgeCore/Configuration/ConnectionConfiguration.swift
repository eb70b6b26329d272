package import WebSocketProtocol

/// A managed connection: where to, on which terms, and how it is kept.
package struct ConnectionConfiguration: Equatable, Sendable {
    package var source: URLSource
    package var upstream = UpstreamSettings()
    package var settings = ConnectionSettings()

    package init(_ source: URLSource) {
        self.source = source
    }

    package init(url: WebSocketURL) {
        self.init(.listed([url]))
    }
}

/// What a connection asks of its upstream and allows it.
package struct UpstreamSettings: Equatable, Sendable {
    /// Added to the opening handshake.
    package var headers: [HTTPField] = []
    /// Offered, in order of preference.
    package var subprotocols: [String] = []
    /// An answer without a subprotocol is refused.
    package var requireSubprotocol = false
    /// Whether to offer permessage-deflate (RFC 7692).
    package var compression = true
    /// Of a message received, joined and inflated; a larger one closes the connection with 1009.
    package var maxMessageBytes = 16 << 20
    package var tls = TLSSettings()
    package var proxy = ProxySetting.environment

    package init() {}
}
