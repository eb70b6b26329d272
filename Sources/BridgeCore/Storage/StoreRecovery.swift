/// What a bridge goes on with after it has opened its store.
package struct StoreRecovery: Equatable, Sendable {
    /// Another one than before if the file is not the one that was there last, but for instance a backup of it.
    package var epoch: Epoch
    /// No record with a greater sequence was ever shown in this epoch.
    package var headSequence: UInt64
    /// Losses, oldest first; one that was found when the store was opened is the last.
    package var gaps: [StoredGap] = []
    /// In the order of their ids, without those that were removed.
    package var connections: [StoredConnection] = []
    /// Those that were removed and that nobody has named again, with what they leave to the next one of their name.
    package var removed: [StoredConnection] = []
    /// Up to this sequence others may have had records that were removed, too.
    package var forgottenThrough: UInt64 = 0
    /// No connection ever had this id, nor a greater one.
    package var nextConnection: StoredConnectionID
    /// What people should know of.
    package var doubts: [StoreDoubt] = []

    package init(epoch: Epoch, headSequence: UInt64, nextConnection: StoredConnectionID) {
        self.epoch = epoch
        self.headSequence = headSequence
        self.nextConnection = nextConnection
    }
}
