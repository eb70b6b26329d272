/// Names an outbox, over restarts too: which of those that there ever were in an epoch.
///
/// A connection that is removed and made again has another one, and so has each of several connections: what names a
/// message of one names none of another.
package struct OutboxID: Hashable, Sendable {
    package var epoch: Epoch
    package var number: UInt64

    /// No two outboxes of an epoch may have the same number.
    package init(epoch: Epoch, number: UInt64) {
        self.epoch = epoch
        self.number = number
    }

    /// That of a connection which is in the store, whose ids are never given again either.
    package init(epoch: Epoch, _ connection: StoredConnectionID) {
        self.init(epoch: epoch, number: UInt64(clamping: connection.number))
    }
}
