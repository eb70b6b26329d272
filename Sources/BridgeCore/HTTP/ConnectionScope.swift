/// Which connections a merged stream shows, of those that there are now or will be.
package struct ConnectionScope: Equatable, Sendable {
    private let patterns: ConnectionPatterns
    private let caller: Caller

    /// Those that `patterns` name and `caller` covers.
    init(_ patterns: ConnectionPatterns, for caller: Caller) {
        self.patterns = patterns
        self.caller = caller
    }

    package func covers(_ connection: String) -> Bool {
        caller.covers(connection: connection) && patterns.match(connection)
    }
}
