package import BridgeCore
package import WebSocketProtocol

/// The way to an upstream: where its URLs come from, and what each is dialled with.
package nonisolated struct UpstreamRoute: Sendable {
    package var source: URLSource
    /// For whoever is asked for URLs, too.
    package var proxy: ProxyRule
    /// What URLs of the scheme wss are dialled with.
    package var tls: TLSSettings
    /// Values of settings that must not show in what others say.
    package var secrets: [String]
    package var target: @Sendable (WebSocketURL) -> UpstreamTarget

    package init(
        source: URLSource,
        proxy: ProxyRule,
        tls: TLSSettings,
        secrets: [String] = [],
        target: @escaping @Sendable (WebSocketURL) -> UpstreamTarget
    ) {
        self.source = source
        self.proxy = proxy
        self.tls = tls
        self.secrets = secrets
        self.target = target
    }

    /// What is known from the start of whether an attempt can be made: who is dialled first, or asked.
    var reachability: Reachability {
        switch source {
        case .listed(let urls): Reachability(of: urls.map { target($0).reachability })
        case .asked(.http(let provider), _): Reachability(of: provider.url, by: proxy)
        case .asked(.command, _): .here
        }
    }
}
