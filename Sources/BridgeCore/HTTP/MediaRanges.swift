/// The media types that a client says it accepts (RFC 9110 §12.5.1), as far as they choose among our formats.
struct MediaRanges {
    /// Weights in thousandths, by type in lower case; those that are malformed are left out.
    private var weights: [String: Int] = [:]

    init(_ head: RequestHead) {
        for field in head.values(of: "accept") {
            for range in field.split(separator: ",") {
                let parts = range.split(separator: ";", omittingEmptySubsequences: false)
                    .map { String($0.filter { $0 != " " && $0 != "\t" }).lowercased() }
                let weight =
                    parts.dropFirst().first { $0.hasPrefix("q=") }
                    .map { MediaRanges.thousandths($0.dropFirst(2)) } ?? 1000
                if let weight, let type = parts.first { weights[type] = max(weight, weights[type] ?? 0) }
            }
        }
    }

    /// Names the media type of newline-delimited JSON, and does not like event streams as much.
    var prefersRecordLines: Bool {
        let lines = weight("application/x-ndjson")
        return lines > 0 && lines > weight("text/event-stream")
    }

    /// Names the media type of event streams, as browsers' `EventSource` does.
    var namesEventStream: Bool { weight("text/event-stream") > 0 }

    private func weight(_ type: String) -> Int { weights[type] ?? 0 }

    /// A weight of RFC 9110 §12.4.2, between 0 and 1 with at most three decimals.
    private static func thousandths(_ text: Substring) -> Int? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, whole == "0" || whole == "1" else { return nil }
        let decimals = parts.count > 1 ? parts[1] : ""
        guard decimals.utf8.count <= 3, decimals.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        let fraction = Int(decimals + String(repeating: "0", count: 3 - decimals.utf8.count)) ?? 0
        return min(1000, (whole == "1" ? 1000 : 0) + fraction)
    }
}
