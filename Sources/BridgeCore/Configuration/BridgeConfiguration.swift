package import WebSocketProtocol

/// Everything that can be configured; the defaults stand in the sections.
package struct BridgeConfiguration: Equatable, Sendable {
    package var http = HTTPSettings()
    package var log = LogSettings()
    package var history = HistoryLimits()
    /// By name.
    package var connections: [String: ConnectionConfiguration] = [:]

    package init() {}
}

/// A managed connection: where to, and how it is kept.
package struct ConnectionConfiguration: Equatable, Sendable {
    package var url: WebSocketURL
    package var settings = ConnectionSettings()
    /// Whether to offer permessage-deflate (RFC 7692).
    package var compression = true
    /// Of a message received, joined and inflated; a larger one closes the connection with 1009.
    package var maxMessageBytes = 16 << 20

    package init(url: WebSocketURL) {
        self.url = url
    }
}
