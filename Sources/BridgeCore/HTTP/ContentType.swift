package import WebSocketProtocol

/// The media type of a body (RFC 9110 §8.3.1), without its parameters.
package struct ContentType: Equatable, Sendable {
    /// Lower case, as in `text`.
    package var type: String
    /// Lower case, as in `plain`.
    package var subtype: String

    /// Reads a `Content-Type`; what has no slash is all type and an empty subtype.
    package init(_ value: some StringProtocol) {
        let essence = String(value.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }).lowercased()
        let parts = essence.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        type = parts.first.map(String.init) ?? ""
        subtype = parts.count > 1 ? String(parts[1]) : ""
    }

    /// The kind of message that a body of this type is.
    ///
    /// Throws `unsupported-media-type` (415) for what is not one message.
    package var messageKind: Message.Kind {
        get throws(Problem) {
            switch (type, subtype) {
            case ("multipart", "form-data"):
                throw Problem(
                    .unsupportedMediaType,
                    "a form is not a message: send the bytes themselves, with curl --data-binary instead of -F"
                )
            case ("application", "x-ndjson"):
                throw Problem(
                    .unsupportedMediaType,
                    "several messages in one body are not supported: send one request a message"
                )
            case ("application", "octet-stream"), ("image", _), ("audio", _), ("video", _):
                .binary
            default:
                .text
            }
        }
    }
}

extension Message {
    /// The kind of message that a request announces, known before its body.
    ///
    /// Throws `unsupported-media-type` (415), which no `type` parameter overrides.
    static func kind(_ query: MessageQuery, _ head: RequestHead) throws(Problem) -> Kind {
        let announced = try head.value(of: "content-type").map(ContentType.init)?.messageKind
        return query.kind ?? announced ?? .text
    }

    /// The message that is a request's body.
    ///
    /// Throws `invalid-utf8` (400) if it is to be text and is not.
    package init(_ kind: Kind, body: [UInt8]) throws(Problem) {
        if kind == .text {
            do {
                _ = try UTF8Span(validating: body.span)
            } catch {
                throw Problem(
                    .invalidUTF8,
                    "text must be UTF-8; for other bytes use ?type=binary or Content-Type: application/octet-stream"
                )
            }
        }
        self.init(kind, body)
    }
}
