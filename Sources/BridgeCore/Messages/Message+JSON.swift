internal import WebSocketProtocol

extension Message {
    /// Where the values stand in the payload; nil if it is not JSON, which is always UTF-8 (RFC 8259 §8.1).
    func values(_ search: JSONSearch) -> [Range<Int>?]? {
        if kind == .binary {
            var validator = UTF8Validator()
            guard validator.accept(bytes.span), validator.isAtBoundary else { return nil }
        }
        return search.values(in: bytes.span)
    }
}
