package import WebSocketProtocol

/// Names one dialled socket of a connection, so that late events of an old one are recognised.
package struct SocketID: Hashable, Sendable {
    package var number: UInt64

    package init(_ number: UInt64) {
        self.number = number
    }
}

/// Where a connection attempt stood when it failed.
package enum DialPhase: String, CaseIterable, Equatable, Sendable {
    case url, dns, tcp, proxy, tls, handshake, onOpen
}

/// Why a connection attempt failed.
///
/// Never holds a secret: no query, no header value, no payload.
package struct DialFailure: Error, Equatable, Sendable {
    package var phase: DialPhase
    /// The HTTP status of the upstream (or the proxy) if it answered with one other than 101.
    package var status: Int?
    /// A lower bound for the next delay, from the answer's `Retry-After`.
    package var retryAfter: Duration?
    /// One sentence for people and logs.
    package var error: String

    package init(phase: DialPhase, status: Int? = nil, retryAfter: Duration? = nil, error: String) {
        self.phase = phase
        self.status = status
        self.retryAfter = retryAfter
        self.error = error
    }
}

/// What one upstream socket reports to its connection, in order.
///
/// `failed` or `ended` is the last one.
package enum SocketEvent: Equatable, Sendable {
    /// The handshake is complete.
    case opened(subprotocol: String?, compression: Bool)
    /// The attempt failed before `opened`.
    case failed(DialFailure)
    case message(Message)
    case ping([UInt8])
    case pong([UInt8])
    /// The peer's close frame; `code` nil when it carried none (reported as 1005).
    case closeFrame(code: UInt16?, reason: String)
    /// The peer broke the protocol. Nothing more is read; the connection answers with the failure's code.
    case violation(WebSocketFailure)
    /// The kernel took every frame up to and including this one (frames are numbered from 1 a socket).
    case written(through: UInt64)
    /// The stream is over after `opened`: end of file (nil), or a reset, a TLS error and the like.
    case ended(error: String?)
}
