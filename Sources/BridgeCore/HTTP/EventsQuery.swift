/// A type of record, as a stream selects it.
package enum RecordType: String, CaseIterable, Sendable {
    case text
    case binary
    case status
}

/// The parameters of `GET .../events`.
package struct EventsQuery: Equatable, Sendable {
    /// Where to begin: the text of `Last-Event-ID`, which wins, or of `since`; nil: with what comes now.
    package var since: String?
    package var types: Set<RecordType> = [.text, .binary]
    /// The stream ends after so many records, snapshots and gaps not counted; at least 1; nil: never.
    package var limit: Int?

    package init() {}

    /// Throws `invalid-parameter` (400).
    package init(_ query: [QueryPair], _ head: RequestHead) throws(Problem) {
        let parameters = try QueryParameters(query, known: ["since", "types", "limit"])
        since = head.value(of: "last-event-id") ?? parameters["since"]
        if let list = parameters["types"] { types = try EventsQuery.types(list) }
        if let count = parameters["limit"] { limit = try EventsQuery.limit(count) }
    }

    private static func types(_ list: String) throws(Problem) -> Set<RecordType> {
        var types: Set<RecordType> = []
        for word in list.split(separator: ",", omittingEmptySubsequences: false) {
            guard let type = RecordType(rawValue: String(word)) else {
                throw .invalidParameter(
                    "types",
                    "it must list some of `text`, `binary` and `status`, joined by commas"
                )
            }
            types.insert(type)
        }
        return types
    }

    private static func limit(_ text: String) throws(Problem) -> Int {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let limit = Int(text), limit > 0 else {
            throw .invalidParameter("limit", "it must be a whole number of at least 1")
        }
        return limit
    }
}
