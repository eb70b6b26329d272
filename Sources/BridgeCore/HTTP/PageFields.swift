/// The header fields that pages of allowed origins may send and read (CORS): all that the API has.
///
/// Tests compare them with `openapi.yaml`.
enum PageFields {
    /// Those of requests; `Cache-Control` is what stand-ins for `EventSource` send.
    static let sent = [
        "Accept", "Authorization", "Cache-Control", "Content-Type", "Idempotency-Key", "If-None-Match",
        "Last-Event-ID", "Prefer",
    ].joined(separator: ", ")

    /// Those of answers that browsers do not show unasked.
    static let read = [
        "Allow", "ETag", "Idempotency-Replayed", "Location", "Retry-After", "Wsbridge-Event-Id",
        "WWW-Authenticate", "X-Accel-Buffering",
    ].joined(separator: ", ")
}
