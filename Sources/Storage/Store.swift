package import BridgeCore

/// The durable store: a SQLite database in a directory of its own, written by a thread of its own.
///
/// Any thread may call it; none of it but opening and closing waits for the disk. What is given to it is written in
/// the order in which it was given, and many of them together (group commit).
package final class Store: Sendable {
    /// For readers beside the writer.
    package let path: String

    private let mailbox: StoreMailbox
    let options: StoreOptions
    private let recovery: Guarded<StoreRecovery?>
    /// Nil once it is closed.
    private let thread: Guarded<StoreThread?>

    /// Opens a store, which takes as long as the disk does; `wake` is called on another thread when there is news.
    package init(
        in directory: String,
        _ options: StoreOptions,
        wake: @escaping @Sendable () -> Void
    ) throws(StorageError) {
        try Database.load(for: directory)
        var random = SystemRandomNumberGenerator()
        let file = StoreFile(directory: try StoreDirectory(directory), options: options)
        let opening = try file.open(random: &random)
        let mailbox = StoreMailbox(congestion: options.congestion, wake: wake)
        let writer = StoreWriter(file, opening.session, mailbox: mailbox)
        self.mailbox = mailbox
        self.options = options
        recovery = Guarded(opening.recovery)
        path = file.directory.database
        thread = Guarded(try StoreThread { writer.run() })
    }

    deinit { close() }

    /// What a bridge goes on with, which the store keeps no longer; nil if it was taken before.
    package func takeRecovery() -> StoreRecovery? {
        recovery.withLock { recovery in
            defer { recovery = nil }
            return recovery
        }
    }

    /// Offers what may be refused: all of it is stored, or none.
    ///
    /// `news` tells by the ticket what has become of it, at the latest when the `promise` is kept. `facts`, which were
    /// so before, are taken in any case.
    package func offer(
        _ offers: [StoreOffer],
        _ promise: StorePromise,
        behind facts: [StoreFact] = []
    ) throws(StoreRefusal) -> StoreTicket {
        try mailbox.offer(offers, promise, behind: facts)
    }

    /// Tells what is never refused, and is stored as soon as possible.
    @discardableResult package func note(_ facts: [StoreFact]) -> StoreTicket {
        mailbox.note(facts)
    }

    /// Tells that all that was shown and is not stored was noted before, as news wanted it (`isToBeTold`).
    package func tellAll() { mailbox.tellAll() }

    /// What has happened since the last call.
    package func takeNews() -> StoreNews { mailbox.takeNews() }

    /// So much waits to be written that nothing more should come for a while.
    package var isCongested: Bool { mailbox.isCongested }

    /// Since when the writer has been at the same piece of work; nil: it waits for some.
    package var busySince: Instant? { mailbox.busySince }

    /// How the writer fares.
    package var meter: StoreMeter { mailbox.meter }

    /// A connection for reading, for one thread at a time.
    package func makeReader() throws(StorageError) -> StoreReader {
        try StoreReader(path, vfs: options.vfs)
    }

    /// Begins to close it, without waiting: `news` says when that is done.
    ///
    /// Nothing may be given to it afterwards.
    package func beginClosing() { mailbox.close() }

    /// Writes what waits, has the file say that nothing is missing, and lets go of the directory.
    ///
    /// Nothing may be given to it afterwards. It takes as long as the disk does, and is not for the writer's thread.
    package func close() {
        mailbox.close()
        StoreThread.join(thread)
    }
}
