/// The parameters of `GET .../events`.
package struct EventsQuery: Equatable, Sendable {
    /// Where a stream begins, as far as that can be told without a clock.
    private enum Start: Equatable {
        case position(StartPosition)
        case ago(Duration)
    }

    package private(set) var types = RecordTypes.messages
    /// The stream ends after so many records, snapshots and gaps not counted; at least 1; nil: never.
    package private(set) var limit: Int?
    private var start = Start.position(.now)

    /// Takes the query and `Last-Event-ID`, which wins over `since`.
    ///
    /// Throws `invalid-parameter` (400).
    package init(_ query: [QueryPair], _ head: RequestHead) throws(Problem) {
        let parameters = try QueryParameters(query, known: ["since", "types", "limit"])
        if let since = parameters["since"] { start = try EventsQuery.start(since: since) }
        if let list = parameters["types"] { types = try EventsQuery.types(list) }
        if let count = parameters["limit"] { limit = try EventsQuery.limit(count) }
        // An empty one is what a client has that saw no event yet.
        if let last = head.value(of: "last-event-id"), !last.isEmpty {
            guard let id = EventID(text: last) else {
                throw .invalidParameter("Last-Event-ID", "it must be the id of an event")
            }
            start = .position(.after(id))
        }
    }

    /// Where the stream begins if it is opened at `now`.
    package func position(at now: WallTime) -> StartPosition {
        switch start {
        case .position(let position): position
        case .ago(let duration): .since(now - duration)
        }
    }

    private static func start(since text: String) throws(Problem) -> Start {
        if let position = StartPosition(since: text) { return .position(position) }
        do throws(MalformedValue) {
            return .ago(try Duration(text: text))
        } catch {
            throw .invalidParameter(
                "since",
                "it must be an event's id, `start`, `now`, a duration such as 10m or a time such as "
                    + "2026-11-30T08:00:00Z (in a query a + is written %2B)"
            )
        }
    }

    private static func types(_ list: String) throws(Problem) -> RecordTypes {
        guard let types = RecordTypes(list: list) else {
            throw .invalidParameter("types", "it must list some of text, binary and status, joined by commas")
        }
        return types
    }

    private static func limit(_ text: String) throws(Problem) -> Int {
        guard let limit = Int(digits: text), limit > 0 else {
            throw .invalidParameter("limit", "it must be a whole number of at least 1")
        }
        return limit
    }
}
