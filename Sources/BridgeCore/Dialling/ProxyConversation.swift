package import WebSocketProtocol

/// What is said to a proxy until it lets bytes through to the destination: bytes in, bytes out.
package struct ProxyConversation: Sendable {
    /// What follows from what came in.
    package enum Progress: Equatable, Sendable {
        /// All input was taken; more must come.
        case waiting
        /// Send this, then go on reading.
        case say([UInt8])
        /// The proxy stands aside: what follows in the input is the destination's.
        case established
    }

    private enum Language: Sendable {
        case http(ConnectConversation)
        case socks(SOCKSConversation)
    }

    private var language: Language

    package init(with proxy: ProxyURL, to destination: Destination) {
        switch proxy.kind {
        case .http, .https:
            language = .http(ConnectConversation(to: destination, credentials: proxy.credentials))
        case .socks5, .socks5h:
            language = .socks(SOCKSConversation(to: destination, credentials: proxy.credentials))
        }
    }

    /// What we say first.
    package var opening: [UInt8] {
        switch language {
        case .http(let conversation): conversation.opening
        case .socks(let conversation): conversation.opening
        }
    }

    /// Takes bytes of `input` from `offset` on, no more than are the proxy's own.
    package mutating func read(
        _ input: Span<UInt8>,
        from offset: inout Int
    ) throws(ProxyRefusal) -> Progress {
        switch language {
        case .http(var conversation):
            defer { language = .http(conversation) }
            return try conversation.read(input, from: &offset)
        case .socks(var conversation):
            defer { language = .socks(conversation) }
            return try conversation.read(input, from: &offset)
        }
    }
}

/// Why a proxy gives no way to the destination.
///
/// Its text holds nothing that it sent but a status.
package struct ProxyRefusal: Error, Equatable, Sendable {
    /// What the proxy did, to stand after its name.
    package var text: String
    /// That of an HTTP proxy.
    package var status: Int?
    package var retryAfter: RetryAfterField?
    /// Another address of the destination may fare better.
    package var concernsAddress = false

    package init(_ text: String) {
        self.text = text
    }
}

extension DialFailure {
    /// The failure of an attempt that the proxy refused just now.
    package init(_ refusal: ProxyRefusal, by proxy: ProxyURL, at now: WallTime) {
        self.init(
            phase: .proxy,
            status: refusal.status,
            retryAfter: refusal.retryAfter?.delay(at: now),
            error: "the proxy \(proxy.redacted) \(refusal.text)"
        )
    }
}
