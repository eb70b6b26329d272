package import WebSocketProtocol

extension DeflateParameters {
    /// What an agreement comes to in which the windows have so many bits and start fresh or not.
    package static func agreed(
        server: Int = 15,
        client: Int = 15,
        serverFresh: Bool = false,
        clientFresh: Bool = false
    ) -> DeflateParameters {
        var parameters = DeflateParameters()
        parameters.serverMaxWindowBits = server
        parameters.clientMaxWindowBits = client
        parameters.serverNoContextTakeover = serverFresh
        parameters.clientNoContextTakeover = clientFresh
        return parameters
    }
}
