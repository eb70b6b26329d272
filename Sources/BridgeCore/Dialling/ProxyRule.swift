package import WebSocketProtocol

/// What a connection's configuration says about proxies.
package enum ProxySetting: Hashable, Sendable {
    /// Those of the environment.
    case environment
    case none
    /// This one, whatever the URL.
    case always(ProxyURL)
}

/// Which proxy a connection goes through, whatever URL it comes to dial.
package enum ProxyRule: Equatable, Sendable {
    case none
    case always(ProxyURL)
    case environment(EnvironmentProxies)

    package init(_ setting: ProxySetting, environment: EnvironmentProxies) {
        switch setting {
        case .none: self = .none
        case .always(let proxy): self = .always(proxy)
        case .environment: self = .environment(environment)
        }
    }

    /// The proxy for a URL; nil: none, as always for a unix socket.
    package func proxy(for url: WebSocketURL) throws(DialFailure) -> ProxyURL? {
        guard case .tcp = url.endpoint else { return nil }
        switch self {
        case .none: return nil
        case .always(let proxy): return proxy
        case .environment(let proxies):
            switch proxies.choice(for: url) {
            case .none: return nil
            case .proxy(let proxy): return proxy
            case .malformed(let variable, let text):
                throw DialFailure(phase: .proxy, error: "the environment variable \(variable): \(text)")
            }
        }
    }
}
