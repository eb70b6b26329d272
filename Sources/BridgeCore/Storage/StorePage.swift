/// A part of the stored records.
package struct StorePage: Equatable, Sendable {
    /// In the order that was asked for.
    package var records: [StoredRecord] = []
    /// Everything up to here has been looked at: the next page begins behind it.
    ///
    /// In a descending page: everything behind it.
    package var position: UInt64
    /// What is known of where the request begins, for those that it asks of, unless that is trimmed.
    package var starts: [StoredConnectionID: StoredStart] = [:]
    /// It passes over what is damaged; how much that is the records behind it tell.
    ///
    /// `starts` then also has where what was trimmed ends, for connections whose place was not asked for.
    package var isDamaged = false

    package init(position: UInt64) {
        self.position = position
    }
}

/// A place among the records of a connection.
package struct StoredStart: Equatable, Sendable {
    /// There is a stored record with this sequence, or there was.
    package var sequence: UInt64
    /// The ordinal behind that record's.
    package var next: UInt64

    package init(sequence: UInt64, next: UInt64) {
        self.sequence = sequence
        self.next = next
    }
}

/// What a page is to hold.
package struct StorePageRequest: Equatable, Sendable {
    /// Records behind this sequence.
    package var after: UInt64
    /// Up to this one, which was committed.
    package var through: UInt64
    package var connections: [StoredConnectionID]
    package var maxRecords: Int
    /// Of payloads; a larger record comes as the only one.
    package var maxBytes: Int
    /// The newest first.
    package var isDescending = false
    /// Connections of which the place of `after` is to be found.
    package var starts: [StoredConnectionID] = []

    package init(
        after: UInt64,
        through: UInt64,
        of connections: [StoredConnectionID],
        maxRecords: Int,
        maxBytes: Int
    ) {
        self.after = after
        self.through = through
        self.connections = connections
        self.maxRecords = maxRecords
        self.maxBytes = maxBytes
    }
}

/// What readers want to know of the stored records.
package enum StoreQuestion: Equatable, Sendable {
    case page(StorePageRequest)
    /// Where the records begin that are not older.
    case since(WallTime, of: [StoredConnectionID])

    /// The answer where nothing can be read: all that was asked for is passed over.
    package var passed: StoreAnswer {
        switch self {
        case .page(let request):
            var page = StorePage(position: request.isDescending ? request.after : request.through)
            page.isDamaged = true
            return .page(page)
        case .since: return .since(0)
        }
    }

    /// Where it begins to read, which is the same for all who come to the same place.
    package var place: UInt64 {
        switch self {
        case .page(let request): request.isDescending ? request.through : request.after
        case .since: 0
        }
    }
}

/// The answer to a `StoreQuestion` of the same name.
package enum StoreAnswer: Equatable, Sendable {
    case page(StorePage)
    /// The sequence before that of the first such record; nil: there is none.
    case since(UInt64?)
}
