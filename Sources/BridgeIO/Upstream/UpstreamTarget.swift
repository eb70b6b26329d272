package import BridgeCore
package import WebSocketProtocol

/// What to dial, and on which terms.
package nonisolated struct UpstreamTarget: Sendable {
    /// URL, header fields, subprotocols and the offer of compression.
    package var terms: ClientHandshake.Terms
    /// A longer message, joined and inflated, is a violation with code 1009.
    package var maximumMessageBytes: Int
    /// Used when the URL is `wss`.
    package var tls: TLSSettings
    package var proxy: ProxyRule

    package init(
        terms: ClientHandshake.Terms,
        maximumMessageBytes: Int,
        tls: TLSSettings = TLSSettings(),
        proxy: ProxyRule = .none
    ) {
        self.terms = terms
        self.maximumMessageBytes = maximumMessageBytes
        self.tls = tls
        self.proxy = proxy
    }
}
