/// Why the peer's part of the opening handshake was refused (RFC 6455 §4.1, §4.2).
///
/// The peer is at fault in all cases. Beside a status only `redirect` and `retryAfter` hold what the peer sent, and the
/// description does not show them.
package enum HandshakeFailure: Error, Equatable, Sendable {
    /// The head went on beyond so many bytes.
    case headTooLarge(limit: Int)
    /// What came is not an HTTP/1.1 head.
    case notHTTP
    /// An HTTP answer other than 101.
    case status(Int, retryAfter: RetryAfterField?)
    /// The upstream is to be looked for elsewhere.
    case redirect(RedirectAnswer)
    /// A 101 without the right `Upgrade` and `Connection`.
    case notUpgraded
    /// `Sec-WebSocket-Accept` is missing or not the answer to our key.
    case wrongAccept
    /// A subprotocol that was not offered, or more than one.
    case subprotocolNotOffered
    /// None was chosen though one is required.
    case subprotocolMissing
    /// An extension that was not offered, or a malformed list of them.
    case extensionNotOffered
    /// An answer to our offer of compression that RFC 7692 §7.1 does not allow.
    case invalidCompression
    /// For servers: a request that is no WebSocket handshake; says what is wrong with it.
    case invalidRequest(StaticPhrase)
}

/// A phrase of our own, never the peer's words.
package struct StaticPhrase: Equatable, Sendable, ExpressibleByStringLiteral {
    package let text: String

    package init(stringLiteral value: StaticString) {
        text = value.description
    }
}

extension HandshakeFailure: CustomStringConvertible {
    /// One sentence for people and logs.
    package var description: String {
        switch self {
        case .headTooLarge(let limit): "the head of the handshake is longer than \(limit) bytes"
        case .notHTTP: "the answer to the handshake is not HTTP/1.1"
        case .redirect(let answer):
            "the handshake was answered with HTTP status \(answer.status) instead of 101"
        case .status(let status, _): "the handshake was answered with HTTP status \(status) instead of 101"
        case .notUpgraded: "the answer has status 101 but does not upgrade to WebSocket"
        case .wrongAccept: "the answer has a wrong Sec-WebSocket-Accept"
        case .subprotocolNotOffered: "the upstream chose a subprotocol that was not offered"
        case .subprotocolMissing: "the upstream chose none of the subprotocols"
        case .extensionNotOffered: "the upstream chose an extension that was not offered"
        case .invalidCompression: "the upstream answered the offer of compression with invalid parameters"
        case .invalidRequest(let phrase): phrase.text
        }
    }
}

/// Why no handshake can be made of the settings; the operator is at fault.
package enum HandshakeRequestError: Error, Equatable, Sendable {
    case invalidFieldName
    /// A control character, so that one field cannot become several.
    case invalidFieldValue(name: String)
    /// A field that belongs to the handshake itself.
    case reservedField(name: String)
    /// Not a token, or offered twice.
    case invalidSubprotocol
}

extension HandshakeRequestError: CustomStringConvertible {
    /// One sentence for people and logs.
    package var description: String {
        switch self {
        case .invalidFieldName: "the name of a header field is not valid in HTTP"
        case .invalidFieldValue(let name): "the value of the header field \(name) has a control character"
        case .reservedField(let name): "the header field \(name) belongs to the handshake and cannot be set"
        case .invalidSubprotocol: "a subprotocol is not a valid token or stands twice"
        }
    }
}
