internal import WebSocketProtocol

/// How a request that does not open a WebSocket connection is answered, for people with a browser or curl.
nonisolated struct HandshakeRefusal {
    private let status: String
    private let field: String?
    private let reason: String

    /// Makes the answer to a request that failed so and began with `firstByte`.
    init(_ failure: HandshakeFailure, firstByte: UInt8?) {
        reason = failure.description
        // Every other method of HTTP begins with a capital other than that of GET.
        let isOtherMethod = firstByte.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ?? false
        switch failure {
        case .headTooLarge:
            (status, field) = ("431 Request Header Fields Too Large", nil)
        case _ where isOtherMethod && firstByte != UInt8(ascii: "G"):
            (status, field) = ("405 Method Not Allowed", "Allow: GET")
        default:
            (status, field) = ("400 Bad Request", nil)
        }
    }

    /// A whole HTTP response, after which the connection ends.
    var response: [UInt8] {
        let body = "This is the WebSocket server of wsbridge demo: \(reason).\n"
        let fields = [
            "Content-Type: text/plain; charset=utf-8", "Content-Length: \(body.utf8.count)",
            "Connection: close",
        ]
        let lines = ["HTTP/1.1 \(status)"] + fields + [field].compactMap(\.self)
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
}
