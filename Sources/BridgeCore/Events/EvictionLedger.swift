/// Remembers which records of one connection are gone, to tell a late reader how many it lost.
///
/// Sequence numbers next to each other make one run. The number of runs is bounded: when there are too many,
/// the older ones are joined in pairs, so what is remembered gets the coarser the older it is.
struct EvictionLedger {
    private struct Run {
        var first: UInt64
        var last: UInt64
        var count: UInt64

        /// False if records that are still there, or of other connections, lie between.
        var isContiguous: Bool { last - first == count - 1 }
    }

    /// A multiple of four, so that half of them are pairs.
    private static let maxRuns = 1024

    private var runs: [Run] = []
    /// How many records were ever evicted.
    private(set) var total: UInt64 = 0
    /// The sequence of the newest one; 0 if there is none.
    private(set) var last: UInt64 = 0

    /// Notes an eviction; sequences come in ascending order.
    mutating func evicted(_ sequence: UInt64) {
        precondition(sequence > last)
        total += 1
        last = sequence
        if let newest = runs.last, newest.isContiguous, newest.last + 1 == sequence {
            runs[runs.count - 1].last = sequence
            runs[runs.count - 1].count += 1
            return
        }
        if runs.count == EvictionLedger.maxRuns { coarsen() }
        runs.append(Run(first: sequence, last: sequence, count: 1))
    }

    /// How many of the evicted records come after `sequence`; nil if that is not known any more.
    func lost(after sequence: UInt64) -> UInt64? {
        var count: UInt64 = 0
        for run in runs.reversed() {
            if run.last <= sequence { break }
            if run.first > sequence {
                count += run.count
            } else if run.isContiguous {
                count += run.last - sequence
            } else {
                return nil
            }
        }
        return count
    }

    /// Joins everything into one run, for a connection that is gone.
    mutating func compact() {
        guard let first = runs.first else { return }
        runs = [Run(first: first.first, last: last, count: total)]
    }

    /// Joins the older half in pairs.
    private mutating func coarsen() {
        let older = EvictionLedger.maxRuns / 2
        var joined: [Run] = []
        joined.reserveCapacity(EvictionLedger.maxRuns)
        for index in stride(from: 0, to: older, by: 2) {
            let (left, right) = (runs[index], runs[index + 1])
            joined.append(Run(first: left.first, last: right.last, count: left.count + right.count))
        }
        joined.append(contentsOf: runs[older...])
        runs = joined
    }
}
