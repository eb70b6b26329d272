internal import BridgeCore

/// What a store depends on beside its directory.
package struct StoreOptions: Sendable {
    /// Which start of the machine this is: the page cache outlives a process, but not its machine.
    ///
    /// Nil: not known, so that whatever was not synced counts as lost.
    package var boot: String?
    package var clock = StoreClock()
    /// What the log may hold before it is brought into the file, in pages.
    package var checkpointPages = 1000
    /// The longest time from a commit to its sync.
    package var syncInterval = Duration.milliseconds(150)
    /// How long what failed is left alone before it is tried again.
    package var retryInterval = Duration.seconds(1)
    /// How often it is looked whether the files are still where they were, while nothing is written.
    package var watchInterval = Duration.seconds(1)
    /// Bytes that may wait to be written before the store asks for a pause, and twice that before it refuses.
    package var congestion = 16 << 20
    /// Another file system of SQLite's.
    package var vfs: String?
    /// The versions that are known; others are for tests.
    var schema = Schema.current

    package init(boot: String?) {
        self.boot = boot
    }
}
