/// The parameters of an event stream.
package struct EventsQuery: Equatable, Sendable {
    package private(set) var format: StreamFormat
    package private(set) var choice: RecordChoice
    /// The stream ends after so many records, snapshots and gaps not counted; at least 1; nil: never.
    package private(set) var limit: Int?
    /// The stream ends when no record came for so long; nil: never.
    package private(set) var idle: Duration?
    package private(set) var slowness = Subscription.Slowness.gap
    private var start = ReadingParameters.Start.position(.now)

    static let parameters = ["format", "since", "last", "limit", "idle", "slow"] + RecordChoice.parameters

    /// Takes the query of one connection's stream, `Accept`, and `Last-Event-ID`, which wins over the query.
    ///
    /// Throws `invalid-parameter` (400).
    package init(_ query: [QueryPair], _ head: RequestHead) throws(Problem) {
        let parameters = try QueryParameters(
            query,
            known: EventsQuery.parameters,
            repeatable: RecordChoice.repeatable
        )
        try self.init(parameters, head, format: .events)
    }

    /// Takes the query of a stream of several connections, which may name them.
    ///
    /// Throws `invalid-parameter` (400).
    static func merged(
        _ query: [QueryPair],
        _ head: RequestHead
    ) throws(Problem) -> (ConnectionPatterns, EventsQuery) {
        let parameters = try QueryParameters(
            query,
            known: EventsQuery.parameters,
            repeatable: [ConnectionPatterns.parameter] + RecordChoice.repeatable
        )
        let patterns = try ConnectionPatterns(parameters.all(ConnectionPatterns.parameter))
        return (patterns, try EventsQuery(parameters, head, format: .records))
    }

    /// `format` is that of a request which does not choose one.
    private init(
        _ parameters: QueryParameters,
        _ head: RequestHead,
        format: StreamFormat
    ) throws(Problem) {
        self.format = MediaRanges(head).prefersRecordLines ? .recordLines : format
        choice = try RecordChoice(parameters)
        if let word = parameters["format"] { self.format = try ReadingParameters.word("format", word) }
        if let count = parameters["limit"] {
            limit = try ReadingParameters.count("limit", count, 1...Int.max)
        }
        if let time = parameters["idle"] {
            idle = try ReadingParameters.duration("idle", time, .milliseconds(1) ... .longestWritten)
        }
        if let word = parameters["slow"] { slowness = try ReadingParameters.word("slow", word) }
        try hideStatus()
        try takeStart(parameters, head)
    }

    /// Leaves out what the format cannot show.
    private mutating func hideStatus() throws(Problem) {
        guard !format.showsStatus else { return }
        choice.types.remove(.status)
        guard !choice.types.isEmpty else {
            throw .invalidParameter("types", "the format `\(format.rawValue)` cannot show status")
        }
    }

    private mutating func takeStart(_ parameters: QueryParameters, _ head: RequestHead) throws(Problem) {
        if let since = parameters["since"] { start = try ReadingParameters.start(since: since) }
        if let count = parameters["last"] {
            guard parameters["since"] == nil else {
                throw .invalidParameter("last", "it cannot be given together with `since`")
            }
            start = .position(.last(try ReadingParameters.count("last", count, 0...Int.max)))
        }
        // An empty one is what a client has that saw no event yet.
        if let last = head.value(of: "last-event-id"), !last.isEmpty {
            guard let id = EventID(text: last) else {
                throw .invalidParameter("Last-Event-ID", "it must be the id of an event")
            }
            start = .position(.after(id))
        }
    }

    /// Where the stream begins if it is opened at `now`.
    package func position(at now: WallTime) -> StartPosition { start.position(at: now) }

    /// The stream of these connections that is asked for, if it is opened at `now`.
    package func subscription(to connections: ConnectionSelection, at now: WallTime) -> Subscription {
        Subscription(
            shape: StreamShape(filter: choice.filter(of: connections), format: format),
            start: position(at: now),
            limit: limit,
            idle: idle,
            slowness: slowness
        )
    }
}
