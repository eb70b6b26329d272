package import WebSocketProtocol

/// The head of an HTTP answer, as a client sees it.
package struct HTTPReply: Equatable, Sendable {
    package var status: Int
    package var fields: [HTTPField]

    package init(status: Int, fields: [HTTPField] = []) {
        self.status = status
        self.fields = fields
    }

    /// Reads the status line (RFC 9112 §4); nil if it is none.
    init?(_ head: HTTPHead) {
        let parts = head.startLine.utf8.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].count == "HTTP/1.1".utf8.count, parts[1].count == 3,
            let status = Int(digits: String(decoding: parts[1], as: UTF8.self)), status >= 100
        else { return nil }
        self.init(status: status, fields: head.fields)
    }

    /// The value of the only field of this name, in any case.
    package func value(of name: String) -> String? {
        HTTPHead(startLine: "", fields: fields).onlyValue(of: name)
    }
}

/// Why what came is no answer that can be used.
package enum HTTPReplyFailure: Error, Equatable, Sendable {
    /// It is not HTTP, or breaks its rules.
    case malformed
    /// Its head, or the line of a chunk, is too long.
    case tooLarge
    /// The peer closed before the answer was complete.
    case cutOff
}
