extension EventLog {
    /// Evicts what has become older than `HistoryLimits.maxAge`, which takes next to nothing where nothing has.
    package mutating func expire(at now: WallTime) {
        for index in histories.indices where histories[index].limits.maxAge != nil {
            change(index) { $0.expire(at: now) }
        }
    }

    /// The same of one connection alone.
    package mutating func expire(_ connection: ConnectionIndex, at now: WallTime) {
        change(Int(connection.number)) { $0.expire(at: now) }
    }

    /// When `expire` has something to do; nil if nothing that is kept ever becomes too old.
    package var nextExpiry: WallTime? { histories.lazy.compactMap(\.nextExpiry).min() }
}
