internal import FoundationEssentials

/// What `wsbridge tail` prints for an event.
package struct TailOutput: Equatable, Sendable {
    /// For stdout.
    package var bytes: [UInt8] = []
    /// For people, where the format has no place for what happened.
    package var notice: String?

    package init(_ event: EventStreamReader.Event, as format: TailOrder.Format) {
        switch format {
        case .raw:
            switch event.type {
            case "message", "binary": bytes = event.data + [0x0A]
            case "gap": notice = TailOutput.notice(ofGap: event.data)
            default: break
            }
        case .ndjson:
            bytes = event.data + [0x0A]
        case .sse, .json:
            bytes = TailOutput.lines(of: event)
        }
    }

    private static func lines(of event: EventStreamReader.Event) -> [UInt8] {
        var bytes: [UInt8] = []
        if !event.id.isEmpty { bytes += Array("id: \(event.id)\n".utf8) }
        if event.type != "message" { bytes += Array("event: \(event.type)\n".utf8) }
        for line in event.data.split(separator: 0x0A, omittingEmptySubsequences: false) {
            bytes += Array("data: ".utf8) + line + [0x0A]
        }
        return bytes + [0x0A]
    }

    private struct Gap: Decodable {
        var missed: Int?
    }

    private static func notice(ofGap data: [UInt8]) -> String {
        guard let gap = try? JSONDecoder().decode(Gap.self, from: Data(data)), let missed = gap.missed else {
            return "a gap: messages were lost, it is not known how many"
        }
        return "a gap: \(missed) record\(missed == 1 ? " was" : "s were") lost"
    }
}
