/// What can be wrong: the slug of a problem's `type`, with its HTTP status and title.
package enum ProblemKind: String, CaseIterable, Sendable {
    case invalidTarget = "invalid-target"
    case invalidHost = "invalid-host"
    case invalidFraming = "invalid-framing"
    case invalidParameter = "invalid-parameter"
    case invalidUTF8 = "invalid-utf8"
    case invalidBody = "invalid-body"
    case unauthorized = "unauthorized"
    case forbidden = "forbidden"
    case originNotAllowed = "origin-not-allowed"
    case notFound = "not-found"
    case ambiguousConnection = "ambiguous-connection"
    case methodNotAllowed = "method-not-allowed"
    case requestTimeout = "request-timeout"
    case connectionClosed = "connection-closed"
    case receiveOnly = "receive-only"
    case messageExpired = "message-expired"
    case messageDropped = "message-dropped"
    case messageTooLarge = "message-too-large"
    case unsupportedMediaType = "unsupported-media-type"
    case misdirectedHost = "misdirected-host"
    case idempotencyMismatch = "idempotency-mismatch"
    case internalError = "internal-error"
    case connectionLost = "connection-lost"
    case upstreamUnavailable = "upstream-unavailable"
    case outboxFull = "outbox-full"
    case storageUnavailable = "storage-unavailable"
    case tooManySubscribers = "too-many-subscribers"
    case tooManyConnections = "too-many-connections"
    case tooManyBodies = "too-many-bodies"
    case replyTimeout = "reply-timeout"

    /// The HTTP status of the answer.
    package var status: Int { row.status }

    /// One phrase for people, the same for every problem of this kind.
    package var title: String { row.title }

    private var row: (status: Int, title: String) {
        switch self {
        case .invalidTarget: (400, "Malformed request target")
        case .invalidHost: (400, "Missing or malformed Host")
        case .invalidFraming: (400, "Malformed message framing")
        case .invalidParameter: (400, "Invalid parameter")
        case .invalidUTF8: (400, "Text is not UTF-8")
        case .invalidBody: (400, "Invalid body")
        case .unauthorized: (401, "Authentication required")
        case .forbidden: (403, "Not allowed")
        case .originNotAllowed: (403, "Origin not allowed")
        case .notFound: (404, "Not found")
        case .ambiguousConnection: (404, "Several connections")
        case .methodNotAllowed: (405, "Method not allowed")
        case .requestTimeout: (408, "Request not sent in time")
        case .connectionClosed: (409, "Connection closed")
        case .receiveOnly: (409, "Connection is for receiving only")
        case .messageExpired: (409, "Message expired")
        case .messageDropped: (409, "Message dropped")
        case .messageTooLarge: (413, "Message too large")
        case .unsupportedMediaType: (415, "Unsupported media type")
        case .misdirectedHost: (421, "Host not served here")
        case .idempotencyMismatch: (422, "Key used for another message")
        case .internalError: (500, "Internal error")
        case .connectionLost: (502, "Connection lost")
        case .upstreamUnavailable: (503, "Upstream unavailable")
        case .outboxFull: (503, "Outbox full")
        case .storageUnavailable: (503, "Storage unavailable")
        case .tooManySubscribers: (503, "Too many subscribers")
        case .tooManyConnections: (503, "Too many connections")
        case .tooManyBodies: (503, "Too many bodies at once")
        case .replyTimeout: (504, "No reply in time")
        }
    }
}
