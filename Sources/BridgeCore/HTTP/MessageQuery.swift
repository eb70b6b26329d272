import WebSocketProtocol

/// The parameters of `POST .../messages`.
struct MessageQuery: Equatable, Sendable {
    /// The kind asked for by `type=text` or `type=binary`; nil: the content type decides.
    var kind: Message.Kind?

    init(kind: Message.Kind? = nil) {
        self.kind = kind
    }

    /// Throws `invalid-parameter` (400).
    init(_ query: [QueryPair]) throws(Problem) {
        let parameters = try QueryParameters(query, known: ["type"])
        switch parameters["type"] {
        case nil: kind = nil
        case "text": kind = .text
        case "binary": kind = .binary
        default: throw .invalidParameter("type", "it must be `text` or `binary`")
        }
    }
}
