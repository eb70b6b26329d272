extension EventLog {
    /// The largest history gives an eighth of what is needed at a time, so that few looks at all of them suffice.
    private static let steps = 8

    /// Evicts the oldest records of the largest history, over and over, until all take `limit` bytes at most.
    ///
    /// So a connection with much traffic does not push out what is kept of those with little.
    package mutating func shrink(to limit: Int) {
        let step = max(1, (memoryBytes - limit) / EventLog.steps)
        while memoryBytes > max(0, limit), let largest = largestHistory {
            let excess = min(step, memoryBytes - limit)
            change(largest) { $0.shrink(to: max(0, $0.memoryBytes - excess)) }
        }
    }

    private var largestHistory: Int? {
        histories.indices.max { histories[$0].memoryBytes < histories[$1].memoryBytes }
    }
}
