internal import BridgeCore
internal import WebSocketProtocol

extension UpstreamTarget {
    /// A new TLS session; nil when the URL asks for none.
    @MainActor func tlsSession() throws(TLSFailure) -> TLSSession? {
        guard terms.url.isSecure else { return nil }
        let context = try TLSContext.shared(for: tls)
        return try TLSSession(context: context, host: tls.serverName ?? terms.url.tlsHost)
    }

    /// A new opening handshake with a key of its own.
    nonisolated func handshake() throws(HandshakeRequestError) -> ClientHandshake {
        var random = SecureRandom()
        let key = Digests.base64(random.bytes(16))
        let authorization = terms.url.credentials.map { "Basic " + Digests.base64($0.basicInput) }
        return try ClientHandshake(
            terms,
            key: key,
            accept: Digests.accept(for: key),
            authorization: authorization
        )
    }
}

extension WebSocketURL {
    /// Whom the certificate must name; who listens on a unix socket is this machine.
    fileprivate nonisolated var tlsHost: String {
        switch endpoint {
        case .tcp(let host, _): host
        case .unix: "localhost"
        }
    }
}
