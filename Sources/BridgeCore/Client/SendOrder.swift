internal import WebSocketProtocol

/// What `wsbridge send` is to do.
package struct SendOrder: Equatable, Sendable {
    package var endpoint: BridgeEndpoint
    /// Nil: the only one, or `default`.
    package var connection: String?
    /// How long the bridge may wait until the message is written upstream; nil: it need not.
    package var wait: Duration?
    /// Nil: each line of stdin is a message.
    package var text: String?

    package init(
        endpoint: BridgeEndpoint,
        connection: String? = nil,
        wait: Duration? = nil,
        text: String? = nil
    ) {
        self.endpoint = endpoint
        self.connection = connection
        self.wait = wait
        self.text = text
    }

    /// Asks the bridge to send one message.
    package func request(_ message: [UInt8]) -> ClientRequest {
        ClientRequest(
            "POST",
            BridgeEndpoint.path(connection, "messages", wait.map { [("wait", $0.text)] } ?? []),
            fields: endpoint.authorization + [HTTPField("Content-Type", "text/plain; charset=utf-8")],
            body: message
        )
    }

    /// How long an answer may take.
    package var patience: Duration { .seconds(30) + (wait ?? .zero) }
}

extension ClientRequest {
    /// Asks whether the bridge lives.
    package static var health: ClientRequest { ClientRequest("GET", "/healthz") }
}
