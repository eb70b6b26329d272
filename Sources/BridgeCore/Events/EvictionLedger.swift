/// Remembers which records of one connection are gone, to tell a late reader how many it lost, and where.
///
/// Sequence numbers next to each other make one run. The number of runs is bounded: when there are too many,
/// the older ones are joined in pairs, so what is remembered gets the coarser the older it is.
struct EvictionLedger {
    private struct Run {
        var first: UInt64
        var last: UInt64
        /// The ordinal of the first record, and the one behind the last.
        var ordinals: Range<UInt64>

        /// False if records that are still there, or of other connections, lie between.
        var isContiguous: Bool { last - first == UInt64(ordinals.count) - 1 }
    }

    /// A multiple of four, so that half of them are pairs.
    private static let maxRuns = 1024

    /// Oldest first.
    private var runs: [Run] = []
    /// How many records were ever evicted.
    private(set) var total: UInt64 = 0
    /// The sequence of the newest one; 0 if there is none.
    private(set) var last: UInt64 = 0

    init() {}

    /// Goes on after so many records had been evicted, the last of them with the sequence `through`.
    ///
    /// `skipped` are sequences that no record has. Where the others are as many as the records, it is known which
    /// was which.
    init(count: UInt64, through: UInt64, skipped: [ClosedRange<UInt64>]) {
        total = count
        last = through
        guard count > 0, through > 0 else { return }
        var first: UInt64 = 1
        for range in skipped where range.upperBound < through && range.lowerBound >= first {
            add(first..<range.lowerBound)
            first = range.upperBound + 1
        }
        add(first..<through + 1)
        if runs.last?.ordinals.upperBound != count {
            runs = [Run(first: 1, last: through, ordinals: 0..<count)]
        }
    }

    /// Adds a run in which every sequence is that of a record.
    private mutating func add(_ sequences: Range<UInt64>) {
        guard let last = sequences.last else { return }
        let start = runs.last?.ordinals.upperBound ?? 0
        let ordinals = start..<start + UInt64(sequences.count)
        runs.append(Run(first: sequences.lowerBound, last: last, ordinals: ordinals))
    }

    /// The sequence of the oldest one; nil if there is none.
    var first: UInt64? { runs.first?.first }

    /// Notes an eviction; sequences come in ascending order.
    mutating func evicted(_ sequence: UInt64) {
        precondition(sequence > last)
        defer {
            total += 1
            last = sequence
        }
        if let newest = runs.last, newest.isContiguous, newest.last + 1 == sequence {
            runs[runs.count - 1].last = sequence
            runs[runs.count - 1].ordinals = newest.ordinals.lowerBound..<total + 1
            return
        }
        if runs.count == EvictionLedger.maxRuns { coarsen() }
        runs.append(Run(first: sequence, last: sequence, ordinals: total..<total + 1))
    }

    /// Notes evictions of records that follow one another, and of those that stood before them.
    mutating func evicted(_ sequences: ClosedRange<UInt64>, ordinals: Range<UInt64>) {
        guard sequences.lowerBound > last, ordinals.lowerBound >= total else { return }
        if ordinals.lowerBound > total, sequences.lowerBound > last + 1 {
            add(
                Run(
                    first: last + 1,
                    last: sequences.lowerBound - 1,
                    ordinals: total..<ordinals.lowerBound
                )
            )
        }
        add(Run(first: sequences.lowerBound, last: sequences.upperBound, ordinals: ordinals))
    }

    private mutating func add(_ run: Run) {
        defer { (total, last) = (run.ordinals.upperBound, run.last) }
        if let newest = runs.last, newest.isContiguous, run.isContiguous, newest.last + 1 == run.first,
            newest.ordinals.upperBound == run.ordinals.lowerBound
        {
            runs[runs.count - 1].last = run.last
            runs[runs.count - 1].ordinals = newest.ordinals.lowerBound..<run.ordinals.upperBound
            return
        }
        if runs.count == EvictionLedger.maxRuns { coarsen() }
        runs.append(run)
    }

    /// The ordinal of the first evicted record after `sequence`; that of the first kept one if there is none.
    ///
    /// Where it is not known any more how many records of a run come after `sequence`, the ordinal is the one
    /// behind that run, and `unknown` is the sequence of the run's last record.
    func ordinal(after sequence: UInt64) -> (ordinal: UInt64, unknown: UInt64?) {
        guard sequence < last else { return (total, nil) }
        let run = runs[index { $0.last <= sequence }]
        if run.first > sequence { return (run.ordinals.lowerBound, nil) }
        if run.isContiguous { return (run.ordinals.lowerBound + (sequence - run.first) + 1, nil) }
        return (run.ordinals.upperBound, run.last)
    }

    /// The sequence of an evicted record, by its ordinal; where that is not known any more one that is not
    /// greater.
    func sequence(of ordinal: UInt64) -> UInt64 {
        let run = runs[index { $0.ordinals.upperBound <= ordinal }]
        return run.isContiguous ? run.first + (ordinal - run.ordinals.lowerBound) : run.first
    }

    /// The ordinal behind the evicted records from `ordinal` on whose sequences are less than `limit`, and the
    /// sequence of the last of them; nil if there are none.
    ///
    /// A run of which it is not known any more how it lies around `limit` counts as a whole, up to its end.
    func losses(from ordinal: UInt64, before limit: UInt64) -> (end: UInt64, last: UInt64)? {
        guard ordinal < total, !runs.isEmpty, sequence(of: ordinal) < limit else { return nil }
        let run = runs[index { $0.first < limit } - 1]
        guard run.last >= limit, run.isContiguous else { return (run.ordinals.upperBound, run.last) }
        return (run.ordinals.lowerBound + (limit - run.first), limit - 1)
    }

    /// Joins everything into one run, for a connection that is gone.
    mutating func compact() {
        guard let first else { return }
        runs = [Run(first: first, last: last, ordinals: 0..<total)]
    }

    /// The index of the first run that is not `earlier`; all that are earlier stand before it.
    private func index(_ earlier: (Run) -> Bool) -> Int {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if earlier(runs[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Joins the older half in pairs.
    private mutating func coarsen() {
        let older = EvictionLedger.maxRuns / 2
        var joined: [Run] = []
        joined.reserveCapacity(EvictionLedger.maxRuns)
        for index in stride(from: 0, to: older, by: 2) {
            let (left, right) = (runs[index], runs[index + 1])
            let ordinals = left.ordinals.lowerBound..<right.ordinals.upperBound
            joined.append(Run(first: left.first, last: right.last, ordinals: ordinals))
        }
        joined.append(contentsOf: runs[older...])
        runs = joined
    }
}
