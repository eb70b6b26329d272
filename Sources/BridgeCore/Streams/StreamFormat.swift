/// How records are written in the body of a stream: the parameter `format`.
package enum StreamFormat: String, CaseIterable, Sendable {
    /// Server-Sent Events with the payload as data.
    case events = "sse"
    /// Server-Sent Events with the JSON record as data.
    case records = "json"
    /// A JSON record a line.
    case recordLines = "ndjson"
    /// Payloads alone, a line feed after each.
    case payloads = "raw"

    /// The body is `text/event-stream`: it can tell when to come back, and be kept alive by comments.
    package var isEventStream: Bool {
        switch self {
        case .events, .records: true
        case .recordLines, .payloads: false
        }
    }

    /// Lifecycle events and gaps can be seen.
    package var showsStatus: Bool { self != .payloads }

    /// The media type of the body.
    package var contentType: String {
        switch self {
        case .events, .records: "text/event-stream; charset=utf-8"
        case .recordLines: "application/x-ndjson"
        case .payloads: "text/plain; charset=utf-8"
        }
    }

    /// What writes this format for one life of the event log.
    package func encoder(epoch: Epoch, framing: BodyFraming) -> any StreamEncoder {
        switch self {
        case .events: ServerSentEvents(epoch: epoch, framing: framing)
        case .records: ServerSentRecords(epoch: epoch, framing: framing)
        case .recordLines: RecordLines(epoch: epoch, framing: framing)
        case .payloads: PayloadLines(framing: framing)
        }
    }
}
