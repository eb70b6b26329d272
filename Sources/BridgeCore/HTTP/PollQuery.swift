/// The parameters of polling: `GET .../messages`.
package struct PollQuery: Equatable, Sendable {
    package let choice: RecordChoice
    /// At most so many records are answered.
    package private(set) var limit = 100
    /// How long the answer may wait for the first record; nil: not at all.
    package private(set) var wait: Duration?
    private var start = ReadingParameters.Start.position(.start)

    static let parameters = ["since", "limit", "wait"] + RecordChoice.parameters
    private static let longestWait = Duration.seconds(300)

    /// Throws `invalid-parameter` (400).
    package init(_ query: [QueryPair]) throws(Problem) {
        let parameters = try QueryParameters(
            query,
            known: PollQuery.parameters,
            repeatable: RecordChoice.repeatable
        )
        choice = try RecordChoice(parameters)
        if let since = parameters["since"] { start = try ReadingParameters.start(since: since) }
        if let count = parameters["limit"] { limit = try ReadingParameters.count("limit", count, 1...1000) }
        if let time = parameters["wait"] {
            wait = try ReadingParameters.duration("wait", time, .zero...PollQuery.longestWait)
        }
    }

    /// Where the answer begins if it is asked for at `now`.
    package func position(at now: WallTime) -> StartPosition { start.position(at: now) }

    /// The records of this connection that are asked for.
    package func filter(of connection: ConnectionIndex) -> StreamFilter {
        choice.filter(of: ConnectionSelection(connection))
    }
}
