/// The records that are kept of one connection, and what became of the others.
///
/// With a store (`disk`) the records here are the newest ones, and what is *gone* is what is not on disk either.
/// A record's ordinal is its number among the records of this connection, from 0; unlike its sequence it has
/// no holes, so ordinals tell a reader exactly how many it lost.
struct History {
    let name: String
    /// Up to this sequence there may have been records of the same name that are not remembered; 0: there were none.
    var unknownThrough: UInt64 = 0
    var limits: HistoryLimits
    private(set) var records = Queue<Record>()
    private(set) var byteCount = 0
    /// Of those that are gone.
    private(set) var evictions = EvictionLedger()
    /// When the newest record that is gone was recorded.
    private(set) var lastEvictedTime: WallTime?
    /// Nil: whatever is not in memory is gone.
    var disk: DiskHistory?

    init(name: String, limits: HistoryLimits) {
        self.name = name
        self.limits = limits
    }

    /// What its records take of the process' memory.
    var memoryBytes: Int { byteCount + records.count * Record.overhead }

    /// The ordinal of the oldest record that is kept, or will be.
    var firstOrdinal: UInt64 { evictions.total }

    /// The ordinal of the oldest record that is in memory, or will be.
    var cachedOrdinal: UInt64 { disk?.cachedOrdinal ?? evictions.total }

    /// The ordinal of the next record.
    var endOrdinal: UInt64 { cachedOrdinal + UInt64(records.count) }

    /// The record in memory with this ordinal; nil if there is none yet, or no more.
    func record(at ordinal: UInt64) -> Record? {
        guard cachedOrdinal..<endOrdinal ~= ordinal else { return nil }
        return records[Int(ordinal - cachedOrdinal)]
    }

    /// The ordinal of the first record in memory after `sequence`.
    func ordinal(after sequence: UInt64) -> UInt64 {
        guard let newest = records.last, newest.sequence > sequence else { return endOrdinal }
        return cachedOrdinal + UInt64(records.partition { $0.sequence <= sequence })
    }

    /// The sequence up to which records may be on disk alone; 0: whatever is kept is in memory.
    var diskFloor: UInt64 {
        guard let disk, disk.evictedThrough > evictions.last else { return 0 }
        return disk.evictedThrough
    }

    /// A sequence before that of the oldest record that is kept, and as close to it as is known; nil: nothing is kept.
    var sequenceBeforeOldest: UInt64? {
        guard let disk, diskFloor > 0 else { return records.first.map { $0.sequence - 1 } }
        guard disk.kept.records > 0 else { return evictions.last }
        return min(disk.kept.oldest, records.first?.sequence ?? .max) - 1
    }

    /// The sequence of the newest record that is not in memory.
    var evictedThrough: UInt64 { disk?.evictedThrough ?? evictions.last }

    /// The ordinal behind the records from `ordinal` on that are gone and whose sequences are less than `limit`, and the
    /// sequence of the last of them; nil if there are none.
    ///
    /// With `isCached` what is not in memory is gone, too: the reader is beyond all that is on disk.
    func losses(
        from ordinal: UInt64,
        before limit: UInt64,
        isCached: Bool
    ) -> (end: UInt64, last: UInt64)? {
        if ordinal < evictions.total { return evictions.losses(from: ordinal, before: limit) }
        guard isCached, ordinal < cachedOrdinal else { return nil }
        return (cachedOrdinal, min(evictedThrough, limit - 1))
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
        while records.count > DiskHistory.maxCached || byteCount > DiskHistory.maxCachedBytes,
            disk?.isOldestStored ?? false, !records.isEmpty
        {
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
        if let disk, endOrdinal > evictions.total, disk.evictedThrough > evictions.last {
            let rest = evictions.last + 1...disk.evictedThrough
            evictions.evicted(rest, ordinals: evictions.total..<endOrdinal)
            lastEvictedTime = disk.evictedTime ?? lastEvictedTime
        }
        evictions.compact()
    }

    private mutating func evictOldest() {
        guard let oldest = records.first else { return }
        records.popFirst()
        byteCount -= oldest.byteCount
        guard disk == nil else {
            disk?.evicted(oldest)
            return
        }
        evictions.evicted(oldest.sequence)
        lastEvictedTime = oldest.time
    }

    // MARK: What the store does

    /// Goes on with what is stored of it; `skipped` are sequences that no record has.
    mutating func restore(_ stored: StoredHistory, as id: StoredConnectionID, skipped: [ClosedRange<UInt64>])
    {
        var stored = stored
        unknownThrough = max(unknownThrough, stored.unknownThrough)
        stored.unknownThrough = unknownThrough
        disk = DiskHistory(id, stored)
        evictions = EvictionLedger(count: stored.trimmed, through: stored.trimmedThrough, skipped: skipped)
        lastEvictedTime = stored.trimmedThrough > 0 ? stored.trimmedAt : nil
    }

    /// Is stored from now on, as another one than before.
    mutating func store(as id: StoredConnectionID) {
        evictAll()
        disk = DiskHistory(id, past)
    }

    /// What the store is to know of it, all of which is gone.
    private var past: StoredHistory {
        var past = StoredHistory()
        (past.recorded, past.newest) = (evictions.total, evictions.last)
        (past.trimmed, past.trimmedThrough) = (evictions.total, evictions.last)
        past.trimmedAt = lastEvictedTime ?? past.trimmedAt
        past.unknownThrough = unknownThrough
        return past
    }

    /// Takes a record in that may be seen from now on.
    mutating func publish(_ record: Record, isStored: Bool) {
        if let staged = disk?.staged, staged > 0 { disk?.staged = staged - 1 }
        let ordinal = endOrdinal
        if !isStored { disk?.noteUnstored(ordinal) }
        append(record)
    }

    mutating func trimmed(_ trim: StoredTrim) {
        evictions.evicted(trim.sequences, ordinals: trim.ordinals)
        while cachedOrdinal < evictions.total, !records.isEmpty { evictOldest() }
    }

    mutating func take(_ kept: StoredHistory) {
        disk?.kept = kept
        if kept.trimmedThrough > 0 { lastEvictedTime = kept.trimmedAt }
    }
}
