package import BridgeCore

/// Publishes: what is appended to the log goes out to every subscriber that asked for it.
///
/// Whoever owns the hub calls `deliver()` once in each turn of the loop, when all the input that was ready has
/// been handled: what came together goes out together.
package final class EventHub {
    package private(set) var log: EventLog
    package let loop: Loop
    /// New ones hold at once.
    package var settings: HTTPSettings
    private var feeds: [StreamShape: Feed] = [:]
    private var dirty: [Feed] = []
    private var keepAliveTimer: LoopTimer?
    private var random = SystemRandomNumberGenerator()
    /// Gaps announced, of all connections.
    package private(set) var gaps = 0

    package init(loop: Loop, settings: HTTPSettings) {
        self.loop = loop
        self.settings = settings
        log = EventLog(epoch: Epoch(startedAt: loop.wallTime, random: &random))
    }

    /// Makes room for a connection.
    package func register(_ name: String, limits: HistoryLimits) -> ConnectionIndex? {
        log.register(name, limits: limits)
    }

    /// Forgets a connection with its history; streams that show it alone end, others learn of their loss.
    package func remove(_ connection: ConnectionIndex) {
        endStreams(of: connection)
        log.remove(connection)
    }

    // MARK: Publishing

    /// Adds a record, stamped with the time of day; it goes out with the next `deliver()`.
    package func append(_ payload: Record.Payload, of connection: ConnectionIndex) {
        let record = log.append(payload, of: connection, at: loop.wallTime)
        let name = log.name(of: connection)
        for feed in feeds.values where feed.shape.filter.accepts(record) {
            if !feed.isDirty { dirty.append(feed) }
            feed.append(record, of: name)
            feed.trim { leaveBehind($0) }
        }
    }

    /// Writes to every subscriber what has been appended since.
    package func deliver() {
        while let feed = dirty.popLast() {
            let (blocked, gone) = feed.deliver(now: loop.now)
            for subscriber in blocked { subscriber.watchWriting() }
            for subscriber in gone { drop(subscriber) }
            for subscriber in feed.others.values where !subscriber.isBlocked { proceed(subscriber) }
        }
    }

    // MARK: Subscribing

    /// How many streams are open.
    package var subscriberCount: Int { feeds.values.reduce(0) { $0 + $1.subscriberCount } }

    /// How many streams that are open have this connection.
    package func subscriberCount(of connection: ConnectionIndex) -> Int {
        feeds.values.reduce(0) { count, feed in
            count + (feed.shape.filter.connections.contains(connection) ? feed.subscriberCount : 0)
        }
    }

    /// Whether a stream with this filter would not be one kind too many.
    package func hasRoom(for filter: StreamFilter) -> Bool {
        let filters = Set(feeds.keys.map(\.filter))
        return filters.count < settings.maxFilters || filters.contains(filter)
    }

    /// Begins a stream: `retry:`, what `opening` writes, then the records from `start` on.
    ///
    /// Registration and the look at the head are one step, so nothing is lost or sent twice in between.
    package func subscribe(
        _ channel: any StreamChannel,
        filter: StreamFilter,
        start: StartPosition,
        limit: Int?,
        opening: (ServerSentEvents, inout [UInt8]) -> Void
    ) {
        let framing: BodyFraming = channel.delivery == .direct ? .chunked : .plain
        let feed = feed(StreamShape(filter: filter, framing: framing))
        let cursor = log.cursor(at: start, of: filter.connections, where: filter.accepts)
        let subscriber = Subscriber(
            channel,
            feed: feed,
            phase: .replaying(cursor),
            remaining: limit,
            since: loop.wallTime
        )
        feed.others[ObjectIdentifier(subscriber)] = subscriber
        var first: [UInt8] = []
        let retry = RetryHint(settings.retry).milliseconds(random: &random)
        feed.encoder.appendRetry(milliseconds: retry, to: &first)
        opening(feed.encoder, &first)
        subscriber.enqueue(first)
        attach(subscriber)
        proceed(subscriber)
        scheduleKeepAlive()
    }

    private func feed(_ shape: StreamShape) -> Feed {
        if let feed = feeds[shape] { return feed }
        let feed = Feed(shape, epoch: log.epoch, after: log.headSequence, now: loop.now)
        feeds[shape] = feed
        return feed
    }

    private func attach(_ subscriber: Subscriber) {
        let channel = subscriber.channel
        channel.onGone = { [weak self, weak subscriber] in
            if let subscriber { self?.forget(subscriber) }
        }
        channel.onPull = { [weak self, weak subscriber] count in
            guard let self, let subscriber else { return .end }
            return pull(subscriber, count)
        }
        SocketWriter.prepare(channel.descriptor)
        let watch = FilePoll(loop: loop, descriptor: channel.descriptor) {
            [weak self, weak subscriber] events in
            if let subscriber { self?.happened(events, to: subscriber) }
        }
        subscriber.watch = watch
        subscriber.watchReading()
    }

    private func happened(_ events: FilePoll.Interest, to subscriber: Subscriber) {
        if events.contains(.hangUp) {
            drop(subscriber)
        } else if events.contains(.reading), !SocketWriter.discardInput(subscriber.channel.descriptor) {
            drop(subscriber)
        } else if events.contains(.writing) {
            subscriber.watchReading()
            proceed(subscriber)
        }
    }

    // MARK: Keeping alive

    /// Breaks every silence that has lasted for `keepAlive`.
    private func scheduleKeepAlive() {
        guard keepAliveTimer == nil, let oldest = feeds.values.map(\.lastWrite).min() else { return }
        let delay = max(.milliseconds(1), oldest + settings.keepAlive - loop.now)
        keepAliveTimer = loop.startTimer(after: delay) { [unowned self] in
            keepAliveTimer = nil
            breakSilence()
            scheduleKeepAlive()
        }
    }

    private func breakSilence() {
        let now = loop.now
        for feed in feeds.values where now - feed.lastWrite >= settings.keepAlive {
            feed.lastWrite = now
            if feed.index.headSequence < log.headSequence {
                if !feed.isDirty { dirty.append(feed) }
                feed.appendPosition(log.headSequence)
            } else {
                var comment: [UInt8] = []
                feed.encoder.appendKeepAlive(to: &comment)
                for subscriber in feed.subscribers { sendAlone(comment, to: subscriber) }
            }
        }
    }

    /// Sends a subscriber that has everything something that is no event; others are not silent.
    private func sendAlone(_ bytes: [UInt8], to subscriber: Subscriber) {
        guard !subscriber.hasPage else { return }
        if let position = subscriber.position(in: subscriber.feed), position < subscriber.feed.bytes.head {
            return
        }
        subscriber.enqueue(bytes)
        proceed(subscriber)
    }

    // MARK: Bookkeeping

    var allSubscribers: [Subscriber] { feeds.values.flatMap(\.subscribers) }

    func countGap() { gaps += 1 }

    /// Takes a subscriber out of everything, and its feed if that was the last one.
    func forget(_ subscriber: Subscriber) {
        guard !subscriber.isGone else { return }
        subscriber.phase = .gone
        // Before libmicrohttpd closes the descriptor: its number may be another socket's right away.
        subscriber.watch = nil
        let feed = subscriber.feed
        _ = feed.live.remove(subscriber)
        feed.others[ObjectIdentifier(subscriber)] = nil
        if feed.isEmpty { feeds[feed.shape] = nil }
    }

    /// What a stream ends with.
    func farewell(of feed: Feed) -> [UInt8] {
        var bytes: [UInt8] = []
        let retry = RetryHint(settings.retry).milliseconds(random: &random)
        feed.encoder.appendRetry(milliseconds: retry, to: &bytes)
        return bytes + feed.shape.framing.end
    }
}
