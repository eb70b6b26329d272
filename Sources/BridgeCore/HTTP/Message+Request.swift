package import WebSocketProtocol

extension Message {
    /// The message that is a request's body, or a line of one.
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
