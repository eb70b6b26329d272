internal import FoundationEssentials

/// What `wsbridge tail` prints for an event.
package struct TailOutput: Equatable, Sendable {
    /// For stdout.
    package var bytes: [UInt8] = []
    /// For people: what was lost, whatever the format.
    package var notice: String?

    /// Takes an event of the stream that `TailOrder.request` asks for.
    package init(_ event: EventStreamReader.Event, as format: TailOrder.Format) {
        switch format {
        case .raw:
            show(payloadOf: event.data)
        case .ndjson:
            bytes = event.data + [newline]
            notice = TailOutput.record(event.data)?.loss
        case .json:
            bytes = TailOutput.lines(of: event)
            notice = TailOutput.record(event.data)?.loss
        case .sse:
            bytes = TailOutput.lines(of: event)
            // The event's type says what it is; its data has not the member.
            if event.type == "gap" { notice = StreamedRecord.gap(event.data).loss }
        }
    }

    private mutating func show(payloadOf data: [UInt8]) {
        guard let record = TailOutput.record(data) else {
            notice = "an event that is no record was left out"
            return
        }
        notice = record.loss
        if let payload = record.payload { bytes = Array(payload.utf8) + [newline] }
    }

    private static func lines(of event: EventStreamReader.Event) -> [UInt8] {
        var bytes: [UInt8] = []
        if !event.id.isEmpty { bytes += Array("id: \(event.id)\n".utf8) }
        if event.type != "message" { bytes += Array("event: \(event.type)\n".utf8) }
        for line in event.data.split(separator: newline, omittingEmptySubsequences: false) {
            bytes += Array("data: ".utf8) + line + [newline]
        }
        return bytes + [newline]
    }

    private static func record(_ json: [UInt8]) -> StreamedRecord? {
        try? JSONDecoder().decode(StreamedRecord.self, from: Data(json))
    }
}

/// What of a JSON record matters here.
private enum StreamedRecord: Decodable {
    /// A text, or what is binary in base64.
    case message(String)
    /// So many records were lost; nil: nobody knows how many.
    case gap(missed: UInt64?)
    case other

    private enum Key: CodingKey {
        case type, data, missed
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        switch try members.decode(String.self, forKey: .type) {
        case "text", "binary": self = .message(try members.decode(String.self, forKey: .data))
        case "gap": self = .gap(missed: try members.decodeIfPresent(UInt64.self, forKey: .missed))
        default: self = .other
        }
    }

    /// The gap that an event of this type tells of.
    static func gap(_ data: [UInt8]) -> StreamedRecord {
        struct Members: Decodable {
            var missed: UInt64?
        }
        return .gap(missed: (try? JSONDecoder().decode(Members.self, from: Data(data)))?.missed)
    }

    var payload: String? {
        switch self {
        case .message(let text): text
        case .gap, .other: nil
        }
    }

    var loss: String? {
        switch self {
        case .gap(nil): "a gap: messages were lost, it is not known how many"
        case .gap(let missed?): "a gap: \(missed) record\(missed == 1 ? " was" : "s were") lost"
        case .message, .other: nil
        }
    }
}

private let newline = UInt8(ascii: "\n")
