internal import WebSocketProtocol

/// How a request frames its body (RFC 9112 §6).
package enum RequestFraming: Equatable, Sendable {
    case none
    case length(UInt64)
    case chunked

    /// Reads the framing fields of a head.
    ///
    /// Throws `invalid-framing` (400, and the connection must be closed) where two parties could read the
    /// boundary of the request differently: both fields, repeated or malformed ones, other codings.
    package init(of head: RequestHead) throws(Problem) {
        // A name with a space before its colon is another field to us than to whoever forwarded it (RFC 9112 §5.1).
        for field in head.fields {
            guard RequestFraming.isToken(field.name) else {
                throw RequestFraming.refusal("a field name has a character that none may have")
            }
            // Whoever forwarded it may have gone by all of the value (RFC 9110 §5.5), or of its lines (§5.2).
            guard !field.value.utf8.contains(0) else {
                throw RequestFraming.refusal("a field value has a NUL, or goes on in a second line")
            }
        }
        let lengths = head.values(of: "content-length")
        let codings = head.values(of: "transfer-encoding")
        switch (lengths.count, codings.count) {
        case (0, 0):
            self = .none
        case (1, 0):
            guard let length = UInt64(digits: lengths[0]) else {
                throw RequestFraming.refusal("Content-Length is not a number")
            }
            self = length == 0 ? .none : .length(length)
        case (0, 1):
            guard codings[0].lowercased() == "chunked" else {
                throw RequestFraming.refusal("the only transfer coding understood is chunked")
            }
            guard head.version == .http11 else {
                throw RequestFraming.refusal("HTTP/1.0 has no transfer codings")
            }
            self = .chunked
        default:
            throw RequestFraming.refusal("Content-Length and Transfer-Encoding may only come alone and once")
        }
    }

    /// RFC 9110 §5.6.2.
    private static func isToken(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    private static func refusal(_ detail: String) -> Problem {
        Problem(.invalidFraming, detail).closingConnection()
    }
}
