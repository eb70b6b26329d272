package import BridgeCore

extension ManagedConnection {
    /// What a connection is made of besides its settings.
    package struct Surroundings {
        package var loop: Loop
        /// Shared by all connections of the loop.
        package var flushes: FlushRound
        package var sink: any ConnectionSink
        /// The time of day, for the status.
        package var wallClock: () -> WallTime
        /// What makes the ids of its messages differ from all others; that of `stored`, if there is a store.
        package var outbox: OutboxID
        /// Shared by all connections of the loop.
        package var transfers: Transfers
        /// Shared by all outboxes; nil: they have what memory there is.
        package var memory: (any OutboxMemory)?
        /// Keeps what the outbox takes; nil: it ends with the process.
        package var store: (any MessageStore)?

        package init(
            loop: Loop,
            flushes: FlushRound,
            transfers: Transfers? = nil,
            sink: any ConnectionSink,
            memory: (any OutboxMemory)? = nil,
            store: (any MessageStore)? = nil,
            outbox: OutboxID,
            wallClock: @escaping () -> WallTime
        ) {
            self.loop = loop
            self.flushes = flushes
            self.transfers = transfers ?? Transfers(loop: loop)
            self.sink = sink
            self.memory = memory
            self.store = store
            self.outbox = outbox
            self.wallClock = wallClock
        }
    }
}
