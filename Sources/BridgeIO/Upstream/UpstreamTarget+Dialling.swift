internal import BridgeCore
internal import WebSocketProtocol

extension UpstreamTarget {
    /// What is known from the start of whether what is dialled, the upstream or a proxy, can be reached.
    nonisolated var reachability: Reachability { Reachability(of: terms.url, by: proxy) }

    /// A new TLS session; nil when the URL asks for none.
    ///
    /// `complain` hears of files that have changed and cannot be used.
    @MainActor func tlsSession(complain: (String) -> Void) throws(TLSFailure) -> TLSSession? {
        guard terms.url.isSecure else { return nil }
        let context = try TLSCredentials.shared(for: tls).context(complain: complain)
        return try TLSSession(context: context, host: tls.serverName ?? terms.url.tlsHost)
    }

    /// Where a redirect leads to; what proves who we are stays with the origin that it was meant for.
    nonisolated func redirected(by step: RedirectTrail.Step) -> UpstreamTarget {
        var target = self
        target.terms = terms.redirected(by: step)
        if step.crossesOrigin {
            target.tls.serverName = nil
            target.tls.certificateFile = nil
            target.tls.keyFile = nil
            target.tls.keyPassword = nil
        }
        return target
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

extension Reachability {
    nonisolated init(of url: WebSocketURL, by rule: ProxyRule) {
        guard case .tcp(let host, let port) = url.endpoint else {
            self = .here
            return
        }
        do throws(DialFailure) {
            if let proxy = try rule.proxy(for: url) {
                self.init(host: proxy.host, port: proxy.port)
            } else {
                self.init(host: host, port: port)
            }
        } catch {
            // Nothing is ever dialled, and every attempt says why.
            self = .here
        }
    }

    private nonisolated init(host: String, port: UInt16) {
        if let address = SocketAddress(literal: host, port: port)?.networkAddress {
            self.init(address)
        } else {
            self.init(name: host)
        }
    }
}
