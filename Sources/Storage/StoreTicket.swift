package import BridgeCore

/// Names what was given to the store at one time; what was given later has a greater one.
package struct StoreTicket: Comparable, Hashable, Sendable {
    package let number: UInt64

    package init(number: UInt64) {
        self.number = number
    }

    package static func < (left: StoreTicket, right: StoreTicket) -> Bool { left.number < right.number }
}

/// What is waited for.
package enum StorePromise: Equatable, Sendable {
    /// It survives the end of the process, however that comes.
    case committed
    /// It survives a power cut, too.
    case synced
}

/// Why an offer is not even taken.
package enum StoreRefusal: Error, Equatable, Sendable {
    /// The store cannot be written at the moment.
    case unavailable(StorageError)
    /// So much waits to be written already that there is no room for more.
    case overloaded
}

/// What has become of what was given to the store, since this was last asked.
///
/// Look at `refused` first: what stands there never counts as committed or synced.
package struct StoreNews: Equatable, Sendable {
    /// Offers that are not stored, in order.
    package var refused: [StoreTicket] = []
    /// Everything up to here is committed, or refused.
    package var committed = StoreTicket(number: 0)
    /// Everything up to here is synced, or refused.
    package var synced = StoreTicket(number: 0)
    /// Why nothing can be written at the moment; nil: it can.
    package var failure: StorageError?
    /// It can be written again: now it has to be told what it has missed, and then that this was all (`tellAll`).
    package var isToBeTold = false
    /// What somebody did to its files, and was mended without anything being lost.
    package var mended: [StoreMending] = []
    /// So much waits to be written that nothing more should come for a while.
    package var isCongested = false
    /// Everything is written that can be, and nothing more will be.
    package var isClosed = false
    /// Histories that have changed since this was last asked, as of the newest commit.
    package var histories: [StoredConnectionID: StoredHistory] = [:]
    /// What was trimmed of them, in order.
    package var trims: [StoredTrim] = []
}

/// What was done to the files of a store while it was in use, and is as before.
package enum StoreMending: Equatable, Sendable {
    /// The log was deleted or replaced.
    case log
    /// The lock file was deleted, replaced or emptied.
    case lock
}
