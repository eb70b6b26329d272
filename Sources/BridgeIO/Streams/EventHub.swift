package import BridgeCore

/// Publishes: what is appended to the log goes out to every subscriber that asked for it.
///
/// Whoever owns the hub calls `deliver()` in each turn of the loop, when all the input that was ready has
/// been handled, and again as long as it `hasNews`: what came together goes out together.
package final class EventHub {
    package internal(set) var log: EventLog
    package let loop: Loop
    /// New ones hold at once.
    package var settings: HTTPSettings
    var memory: MemoryBudget
    /// What subscribers get alone.
    let pages = MemoryTotal()
    /// The large record that was last read from the log, for whoever comes to it next in this turn.
    var lastLarge: HeldBytes?
    /// Pulled subscribers that wait until there is memory to fill them.
    var waiting: [ObjectIdentifier: Subscriber] = [:]
    var waitingTimer: LoopTimer?
    /// Somebody had to give; called once for each bound and kind.
    package var onMemoryShort: (MemoryShortage) -> Void = { _ in }
    var shortages: Set<MemoryShortage> = []
    var feeds: FeedTable
    var dirty: [Feed] = []
    let polls = PollRoom()
    /// A stream or a waiting poll of these connections came or went; may be called from within any call.
    package var onAudienceChange: (ConnectionSelection) -> Void = { _ in }
    /// Whose audience changed while a record was published, which must be in all feeds before another one comes.
    var changedAudiences: [ConnectionSelection]?
    var keepAliveTimer: LoopTimer?
    var presenceTimer: LoopTimer?
    var expiryTimer: LoopTimer?
    /// Records may become too old.
    private(set) var isAgeing = false
    private var random = SystemRandomNumberGenerator()
    /// Where records are encoded before they are copied to a feed.
    var scratch: [UInt8] = []
    /// Those that read the log and are to be disconnected when it outruns them.
    var impatient: [ObjectIdentifier: Subscriber] = [:]
    /// Gaps that subscribers of each connection were told of.
    private var gaps: [ConnectionIndex: GapTally] = [:]
    /// How many streams have ended, by what ended them.
    var ended: [StreamEnd: Int] = [:]

    /// Where records are stored; nil: nowhere.
    var store: (any RecordStore)?
    var staging = Staging()
    /// Those who wait to ask the store, in turn, and how many have asked.
    var askers = Queue<Searcher>()
    var askedCount = 0

    /// Those who have much to look through, in turn.
    var searchers = Queue<Searcher>()
    /// What they may still look through before everyone else gets their turn.
    var allowance = SearchAllowance()

    /// What is kept of the room that a large record took.
    static let scratchBytes = 256 * 1024

    package init(loop: Loop, settings: HTTPSettings) {
        self.loop = loop
        self.settings = settings
        memory = MemoryBudget(bound: .max)
        feeds = FeedTable(maxBytes: memory.feedLimit(histories: 0))
        log = EventLog(epoch: Epoch(startedAt: loop.wallTime, random: &random))
        polls.onChange = { [unowned self] in onAudienceChange($0) }
    }

    /// Makes room for a connection, or changes the limits of its history; open merged streams take in a new one.
    package func register(
        _ name: String,
        limits: HistoryLimits,
        as stored: StoredConnection? = nil
    ) -> ConnectionIndex? {
        let isNew = log.index(of: name) == nil
        let index =
            if let stored {
                log.register(name, limits: limits, as: stored)
            } else {
                log.register(name, limits: limits)
            }
        if let store, let index, let fact = log.registered(index) { store.note(fact) }
        isAgeing = isAgeing || limits.maxAge != nil
        expire()
        if isNew { reselect() }
        // The next expiry may be sooner than it was.
        expiryTimer = nil
        watchAge()
        return index
    }

    /// Lets a name be given to another connection, though one that is about to be removed has it.
    package func release(_ name: String) { log.release(name) }

    /// Forgets a connection with its history; streams that show it alone end, others learn of their loss.
    package func remove(_ connection: ConnectionIndex) {
        endStreams(of: connection)
        reselect(without: connection)
        log.remove(connection)
        gaps[connection] = nil
    }

    func forgetOldRecords() { log.expire(at: loop.wallTime) }

    // MARK: Subscribing

    /// How many streams and waiting polls are open.
    package var readerCount: Int { subscriberCount + polls.count }

    /// How many streams are open.
    package var subscriberCount: Int { feeds.all.reduce(0) { $0 + $1.subscriberCount } }

    /// How many streams that are open have this connection.
    package func subscriberCount(of connection: ConnectionIndex) -> Int {
        feeds.takers(of: connection).reduce(0) { $0 + $1.subscriberCount }
    }

    /// Whether someone reads this connection: by a stream, or by a poll that waits.
    package func hasAudience(_ connection: ConnectionIndex) -> Bool {
        feeds.takers(of: connection).contains { !$0.isEmpty } || polls.isWaiting(for: connection)
    }

    /// Whether a stream of this shape would not be one kind too many.
    package func hasRoom(for shape: StreamShape) -> Bool {
        feeds.combinations.contains(shape.combination) || hasRoomForCombinations
    }

    /// The same of polls that wait.
    package func hasRoom(forPollsOf filter: StreamFilter) -> Bool {
        polls.combinations.contains(filter.combination) || hasRoomForCombinations
    }

    private var hasRoomForCombinations: Bool {
        feeds.combinations.count + polls.combinations.count < settings.maxFilters
    }

    /// Begins a stream: `retry:`, what `opening` writes, then the records from the start on.
    ///
    /// Registration and the look at the head are one step, so nothing is lost or sent twice in between.
    package func subscribe(
        _ channel: any StreamChannel,
        _ wishes: Subscription,
        from client: ClientAddress,
        opening: (any StreamEncoder, inout [UInt8]) -> Void
    ) {
        expire()
        let framing: BodyFraming = channel.delivery == .direct ? .chunked : .plain
        let feed = feed(Feed.Key(shape: wishes.shape, framing: framing))
        let subscriber = Subscriber(
            channel,
            of: self,
            feed: feed,
            wishes: wishes,
            client: client,
            cursor: log.cursor(at: wishes.start, of: feed.filter.connections),
            since: loop.wallTime,
            now: loop.now
        )
        feed.others[ObjectIdentifier(subscriber)] = subscriber
        watchSpeed(subscriber)
        var first = retry(of: feed)
        opening(feed.encoder, &first)
        subscriber.enqueue(first)
        attach(subscriber)
        proceed(subscriber)
        watchIdling(subscriber)
        scheduleKeepAlive()
        watchPresence()
        audienceChanged(of: feed.filter.connections)
    }

    func feed(_ key: Feed.Key) -> Feed {
        if let feed = feeds.feeds[key] { return feed }
        let feed = Feed(key, epoch: log.epoch, after: log.headSequence, now: loop.now, pages: pages)
        feeds.add(feed)
        // One more shares what all may hold together.
        trimFeeds()
        return feed
    }

    private func attach(_ subscriber: Subscriber) {
        let channel = subscriber.channel
        channel.attach(subscriber)
        SocketWriter.prepare(channel.descriptor)
        // It goes before the subscriber does.
        subscriber.watch = FilePoll(loop: loop, descriptor: channel.descriptor) {
            [unowned subscriber] events in
            subscriber.hub.happened(events, to: subscriber)
        }
        subscriber.watchReading()
    }

    private func happened(_ events: FilePoll.Interest, to subscriber: Subscriber) {
        if events.contains(.hangUp) {
            drop(subscriber)
        } else if events.contains(.reading), !UnwantedInput.discard(subscriber.channel.descriptor) {
            drop(subscriber)
        } else if events.contains(.writing) {
            subscriber.watchReading()
            proceed(subscriber)
        }
    }

    // MARK: Bookkeeping

    var allSubscribers: [Subscriber] { feeds.all.flatMap(\.subscribers) }

    /// Gaps that subscribers of this connection were told of.
    package func gaps(of connection: ConnectionIndex) -> Int { gapTally(of: connection).total }

    /// The same, by what led to them.
    func gapTally(of connection: ConnectionIndex) -> GapTally { gaps[connection] ?? GapTally() }

    func count(_ gap: Gap, of subscriber: Subscriber) {
        subscriber.gaps += 1
        let reason = GapTally.Reason(gap, wasReading: subscriber.hasID)
        for connection in subscriber.feed.filter.connections.indices {
            gaps[connection, default: GapTally()].count(reason)
        }
    }

    /// Takes a subscriber out of everything, and its feed if that was the last one.
    func forget(_ subscriber: Subscriber, because reason: StreamEnd) {
        guard !subscriber.isGone else { return }
        ended[reason, default: 0] += 1
        subscriber.phase = .gone
        // Before the descriptor is closed, or watched by somebody else: its number may be another socket's right away.
        // Not only let go of, as the watch may be what is calling.
        subscriber.watch?.stop()
        subscriber.watch = nil
        subscriber.idleTimer = nil
        subscriber.dropPage()
        impatient[ObjectIdentifier(subscriber)] = nil
        waiting[ObjectIdentifier(subscriber)] = nil
        let feed = subscriber.feed
        _ = feed.live.remove(subscriber)
        feed.others[ObjectIdentifier(subscriber)] = nil
        if feed.isEmpty { feeds.remove(feed) }
        audienceChanged(of: feed.filter.connections)
    }

    /// The hint that a stream starts and ends with, where its format has one.
    func retry(of feed: Feed) -> [UInt8] {
        var bytes: [UInt8] = []
        let retry = RetryHint(settings.retry).milliseconds(random: &random)
        feed.encoder.appendRetry(milliseconds: retry, to: &bytes)
        return bytes
    }
}
