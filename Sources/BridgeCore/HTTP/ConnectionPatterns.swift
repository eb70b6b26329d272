/// The connections that a request names by globs: the repeatable parameter `connection`.
struct ConnectionPatterns: Equatable, Sendable {
    static let parameter = "connection"
    /// Enough for anyone, and few enough that matching them all takes no time.
    private static let maxPatterns = 64

    /// None: all.
    private let patterns: [NamePattern]

    /// Throws `invalid-parameter` (400).
    init(_ texts: [String]) throws(Problem) {
        patterns = texts.map { NamePattern($0) }
        guard patterns.count <= ConnectionPatterns.maxPatterns else {
            throw .invalidParameter(
                ConnectionPatterns.parameter,
                "it is given more than \(ConnectionPatterns.maxPatterns) times"
            )
        }
        guard patterns.allSatisfy(\.isWellFormed) else {
            throw .invalidParameter(
                ConnectionPatterns.parameter,
                "it must be a name or a glob such as `feed-*`, in which `*` stands for anything and `?` for one character"
            )
        }
    }

    /// The connections that match, of those that `caller` covers; in ascending order.
    ///
    /// Throws `not-found` (404) if a name is that of none, or if nothing matches at all: a stream that stays empty because
    /// of a misspelt name would look like one where nothing happens. Other globs may match what comes later.
    func names(coveredBy caller: Caller, among connections: [String]) throws(Problem) -> [String] {
        let covered = connections.filter { caller.covers(connection: $0) }.sorted()
        let vain = patterns.filter { pattern in !covered.contains(where: pattern.matches) }
        if let pattern = vain.first(where: { !$0.hasWildcards || vain.count == patterns.count }) {
            throw .notFound("there is no connection `\(Problem.quotable(pattern.text))` for this caller")
        }
        guard !covered.isEmpty else { throw .notFound("there is no connection for this caller") }
        return covered.filter(match)
    }

    /// Whether one of them matches, or there are none.
    func match(_ connection: String) -> Bool {
        patterns.isEmpty || patterns.contains { $0.matches(connection) }
    }
}
