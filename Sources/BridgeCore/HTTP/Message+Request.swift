package import WebSocketProtocol

extension Message {
    /// The kind of message that a request announces, known before its body.
    ///
    /// Throws `unsupported-media-type` (415), which no `type` parameter overrides.
    static func kind(_ query: MessageQuery, _ head: RequestHead) throws(Problem) -> Kind {
        let announced = try head.value(of: "content-type").map(ContentType.init)?.messageKind
        let kind = query.kind ?? announced ?? .text
        if kind == .text { try TextCoding.check(head) }
        return kind
    }

    /// The message that is a request's body.
    ///
    /// Throws `invalid-utf8` (400) if it is to be text and is not.
    package init(_ kind: Kind, body: [UInt8]) throws(Problem) {
        guard kind == .binary || Message.isUTF8(body) else {
            throw Problem(
                .invalidUTF8,
                "text must be UTF-8; for other bytes use ?type=binary or Content-Type: application/octet-stream"
            )
        }
        self.init(kind, body)
    }

    private static func isUTF8(_ bytes: [UInt8]) -> Bool {
        var validator = UTF8Validator()
        return validator.accept(bytes.span) && validator.isAtBoundary
    }
}
