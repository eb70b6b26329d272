/// A part of the stored records, oldest first.
package struct StorePage: Equatable, Sendable {
    package enum Entry: Equatable, Sendable {
        case record(StoredRecord)
        /// It stands where its last record stood.
        case gap(StoredGap)
    }

    package var entries: [Entry] = []
    /// Everything up to here has been looked at: the next page begins behind it.
    package var position: UInt64

    package init(position: UInt64) {
        self.position = position
    }
}

/// What a page is to hold.
package struct StorePageRequest: Equatable, Sendable {
    /// Records behind this sequence.
    package var after: UInt64
    /// Up to this one, which was committed.
    package var through: UInt64
    package var connections: [StoredConnectionID]
    /// Older ones are passed over.
    package var earliest: WallTime?
    package var maxRecords: Int
    /// Of payloads; a larger record comes as the only one.
    package var maxBytes: Int

    package init(
        after: UInt64,
        through: UInt64,
        of connections: [StoredConnectionID],
        earliest: WallTime? = nil,
        maxRecords: Int,
        maxBytes: Int
    ) {
        self.after = after
        self.through = through
        self.connections = connections
        self.earliest = earliest
        self.maxRecords = maxRecords
        self.maxBytes = maxBytes
    }
}
