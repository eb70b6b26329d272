import WebSocketProtocol

/// The media type of a body (RFC 9110 §8.3.1), without its parameters.
struct ContentType: Equatable, Sendable {
    /// Lower case, as in `text`.
    var type: String
    /// Lower case, as in `plain`.
    var subtype: String

    /// Reads a `Content-Type`; what has no slash is all type and an empty subtype.
    init(_ value: some StringProtocol) {
        let essence = String(value.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }).lowercased()
        let parts = essence.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        type = parts.first.map(String.init) ?? ""
        subtype = parts.count > 1 ? String(parts[1]) : ""
    }

    /// What a body of this type is.
    ///
    /// Throws `unsupported-media-type` (415) for what is no message.
    var form: SendRequest.Form {
        get throws(Problem) {
            switch (type, subtype) {
            case ("multipart", "form-data"):
                throw Problem(
                    .unsupportedMediaType,
                    "a form is not a message: send the bytes themselves, with curl --data-binary instead of -F"
                )
            case ("application", "x-ndjson"):
                .lines
            case ("application", "octet-stream"), ("image", _), ("audio", _), ("video", _):
                .message(.binary)
            default:
                .message(.text)
            }
        }
    }
}
