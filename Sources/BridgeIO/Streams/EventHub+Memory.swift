package import BridgeCore

/// Keeping to `memory.maxBytes`.
extension EventHub: OutboxMemory {
    /// What histories, outboxes and streams may hold together; until it is set, anything.
    package var memoryBound: Int {
        get { memory.bound }
        set {
            memory.bound = newValue
            shortages = []
            fitMemory()
        }
    }

    package var outboxRoom: OutboxRoom { memory.outboxRoom }

    package func outboxGrew(by bytes: Int) {
        memory.outboxes += bytes
        if bytes > 0 { fitMemory() }
    }

    /// Has feeds and histories give what is too much.
    func fitMemory() {
        memory.pages = pages.bytes
        if log.memoryBytes > memory.historyLimit {
            log.shrink(to: memory.historyTarget)
            // What is on disk as well is not lost.
            if store == nil { tell(of: .histories) }
        }
        let limit = memory.feedLimit(histories: log.memoryBytes)
        guard limit != feeds.maxBytes else { return }
        let isLess = limit < feeds.maxBytes
        feeds.maxBytes = limit
        if isLess { trimFeeds() }
    }

    private func tell(of shortage: MemoryShortage) {
        if shortages.insert(shortage).inserted { onMemoryShort(shortage) }
    }

    func trimFeeds() {
        let limit = feeds.bytesPerFeed
        for feed in feeds.all { feed.trim(to: limit) { leaveBehind($0) } }
    }

    /// Disconnects those that have stood still for longest, where such subscribers hold more than they may.
    ///
    /// They can come back by the id that they have. What the last one of them holds does not count: it may be a record
    /// that is larger than all may hold, and has to reach somebody.
    func relieve() {
        guard pages.bytes > memory.pageLimit else { return }
        lastLarge = nil
        let holders = feeds.all.flatMap { $0.others.values }
            .compactMap { subscriber in subscriber.page.map { (subscriber, page: $0) } }
            .sorted { $0.page.lastMove < $1.page.lastMove }
        guard let newest = holders.last?.page else { return }
        let exempt = newest.memoryBytes
        for (subscriber, page) in holders.dropLast() where !page.shares(with: newest) {
            guard pages.bytes - exempt > memory.pageTarget else { return }
            tell(of: .readers)
            drop(subscriber, because: .memory)
        }
    }

    // MARK: Pulled subscribers

    /// How long a pulled subscriber may stand still while others wait for what it holds.
    private static let patience = Duration.seconds(1)

    /// Whether a pulled subscriber may be filled now; if not, it is woken when there is memory for it.
    ///
    /// The server asks for many in a row, and none of them can be disconnected meanwhile.
    func admits(_ subscriber: Subscriber, _ cursor: LogCursor) -> Bool {
        guard !hasRoomForPages, log.hasMore(for: cursor) else { return true }
        waiting[ObjectIdentifier(subscriber)] = subscriber
        watchWaiting()
        return false
    }

    private var hasRoomForPages: Bool { pages.bytes <= memory.pulledPageLimit }

    /// Has those that waited for memory ask again.
    func wakeWaiting() {
        guard !waiting.isEmpty, hasRoomForPages else { return }
        let woken = waiting.values
        waiting = [:]
        for subscriber in woken { subscriber.channel.wake() }
    }

    private func watchWaiting() {
        guard waitingTimer == nil else { return }
        waitingTimer = loop.startTimer(after: EventHub.patience) { [unowned self] in
            waitingTimer = nil
            guard !waiting.isEmpty else { return }
            let now = loop.now
            for subscriber in feeds.all.flatMap({ $0.others.values }) {
                guard let page = subscriber.page, now - page.lastMove >= EventHub.patience else { continue }
                tell(of: .readers)
                drop(subscriber, because: .memory)
            }
            watchWaiting()
        }
    }
}
