/// What a history that is stored keeps in mind of it: its records in memory are the newest of those on disk, but for
/// those that could not be stored.
struct DiskHistory {
    let id: StoredConnectionID
    /// What the store told last.
    var kept: StoredHistory
    /// The ordinal of the oldest record in memory, or of the next one.
    private(set) var cachedOrdinal: UInt64
    /// The sequence of the newest record that is not in memory; 0: there is none.
    private(set) var evictedThrough: UInt64
    /// When that was recorded; nil: it is not known.
    private(set) var evictedTime: WallTime?
    /// Ordinals of records in memory that are not on disk, oldest first.
    private(set) var unstored: [Range<UInt64>] = []
    /// The newest runs of records that could not be stored and are gone.
    private(set) var skips: [Skip] = []
    /// Records that were offered to the store and that nobody may see yet.
    var staged: UInt64 = 0

    /// Records that could not be stored.
    struct Skip {
        /// Nothing of it has a smaller sequence, nor a greater one.
        var sequences: ClosedRange<UInt64>
        /// The ordinal behind the last one.
        var next: UInt64
    }

    /// More of what is on disk is not kept in memory as well.
    static let maxCached = 2048
    static let maxCachedBytes = 2 << 20
    private static let maxSkips = 16

    init(_ id: StoredConnectionID, _ kept: StoredHistory) {
        self.id = id
        self.kept = kept
        cachedOrdinal = kept.recorded
        evictedThrough = kept.newest
        if kept.skippedThrough > 0 {
            skips = [Skip(sequences: 0...kept.skippedThrough, next: kept.skipped)]
        }
    }

    /// The oldest record in memory goes.
    mutating func evicted(_ record: Record) {
        if !isOldestStored { noteSkip(record.sequence) }
        cachedOrdinal += 1
        evictedThrough = record.sequence
        evictedTime = record.time
        if let oldest = unstored.first, oldest.lowerBound < cachedOrdinal {
            unstored[0] = min(cachedOrdinal, oldest.upperBound)..<oldest.upperBound
            if unstored[0].isEmpty { unstored.removeFirst() }
        }
    }

    private mutating func noteSkip(_ sequence: UInt64) {
        var first = sequence
        if let newest = skips.last, newest.next == cachedOrdinal {
            first = newest.sequences.lowerBound
            skips.removeLast()
        }
        if skips.count == DiskHistory.maxSkips {
            // What is between them counts as well, rather than that one is forgotten.
            let oldest = skips.removeFirst()
            skips[0].sequences = oldest.sequences.lowerBound...skips[0].sequences.upperBound
        }
        skips.append(Skip(sequences: first...sequence, next: cachedOrdinal + 1))
    }

    mutating func noteUnstored(_ ordinal: UInt64) {
        if let newest = unstored.last, newest.upperBound == ordinal {
            unstored[unstored.count - 1] = newest.lowerBound..<ordinal + 1
        } else {
            unstored.append(ordinal..<ordinal + 1)
        }
    }

    /// Whether the oldest record in memory is on disk as well.
    var isOldestStored: Bool { unstored.first?.lowerBound != cachedOrdinal }

    var unstoredCount: Int { unstored.reduce(0) { $0 + $1.count } }
}
