/// The records that are kept of one connection, and what became of the others.
///
/// A record's ordinal is its number among the records of this connection, from 0; unlike its sequence it has
/// no holes, so ordinals tell a reader exactly how many it lost.
struct History {
    let name: String
    /// Up to this sequence there may have been records of the same name that are not remembered; 0: there were none.
    var unknownThrough: UInt64 = 0
    var limits: HistoryLimits
    private(set) var records = Queue<Record>()
    private(set) var byteCount = 0
    private(set) var evictions = EvictionLedger()
    /// When the newest record that is gone was recorded.
    private(set) var lastEvictedTime: WallTime?

    init(name: String, limits: HistoryLimits) {
        self.name = name
        self.limits = limits
    }

    /// What its records take of the process' memory.
    var memoryBytes: Int { byteCount + records.count * Record.overhead }

    /// The ordinal of the oldest record that is kept, or will be.
    var firstOrdinal: UInt64 { evictions.total }

    /// The ordinal of the next record.
    var endOrdinal: UInt64 { evictions.total + UInt64(records.count) }

    /// The record with this ordinal; nil if there is none yet, or no more.
    func record(at ordinal: UInt64) -> Record? {
        guard firstOrdinal..<endOrdinal ~= ordinal else { return nil }
        return records[Int(ordinal - firstOrdinal)]
    }

    /// The ordinal of the first kept record after `sequence`.
    func ordinal(after sequence: UInt64) -> UInt64 {
        guard let newest = records.last, newest.sequence > sequence else { return endOrdinal }
        return firstOrdinal + UInt64(records.partition { $0.sequence <= sequence })
    }

    mutating func append(_ record: Record) {
        records.append(record)
        byteCount += record.byteCount
        enforceSize()
        expire(at: record.time)
    }

    /// Evicts what is too much, after the limits changed.
    mutating func enforceSize() {
        while records.count > limits.maxMessages || byteCount > limits.maxBytes, !records.isEmpty {
            evictOldest()
        }
    }

    /// Evicts what is too old at `now`.
    mutating func expire(at now: WallTime) {
        guard let maxAge = limits.maxAge else { return }
        let oldestAllowed = now - maxAge
        while let oldest = records.first, oldest.time < oldestAllowed { evictOldest() }
    }

    /// When the oldest record becomes too old; nil if it never does.
    var nextExpiry: WallTime? {
        guard let maxAge = limits.maxAge, let oldest = records.first else { return nil }
        return oldest.time - (.zero - maxAge)
    }

    /// Evicts records until `memoryBytes` is `limit` at most.
    mutating func shrink(to limit: Int) {
        while memoryBytes > limit, !records.isEmpty { evictOldest() }
    }

    mutating func evictAll() {
        while !records.isEmpty { evictOldest() }
        records = Queue()
        evictions.compact()
    }

    private mutating func evictOldest() {
        guard let oldest = records.first else { return }
        records.popFirst()
        byteCount -= oldest.byteCount
        evictions.evicted(oldest.sequence)
        lastEvictedTime = oldest.time
    }
}
