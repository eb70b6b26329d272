internal import BridgeCore

/// One open event stream.
///
/// It begins by *replaying*: it reads the log on its own, page by page as fast as its client takes them. At the
/// head it becomes *live* and gets the feed's bytes. One with a limit reads on its own to the end, and *waits* at the
/// head for the feed's next record.
final class Subscriber {
    enum Phase {
        /// Reads the log; can become live, waiting or ending.
        case replaying(LogCursor)
        /// Has read everything up to this sequence, and counts what comes; becomes replaying with the next record.
        case waiting(UInt64)
        /// Gets the bytes of the feed from this position, unless the feed's table has it; can fall back to
        /// replaying when it lags too much, or become ending.
        case live(UInt64)
        /// Gets the rest of its page, then its connection ends.
        case ending
        /// Its connection is no longer written to; final.
        case gone
    }

    let channel: any StreamChannel
    unowned let hub: EventHub
    /// A merged stream gets another one when its connections change.
    var feed: Feed
    /// It ends when no record came for so long.
    let idle: Duration?
    let slowness: Subscription.Slowness
    /// Of a merged stream.
    let scope: ConnectionScope?
    let client: ClientAddress
    /// Who reads.
    let caller: Caller
    /// When it came.
    let since: WallTime
    var phase: Phase
    /// Its place in the feed's table, while it is live and written to directly.
    var slot: Int?
    /// Records that it may still get; nil: no limit.
    var remaining: Int?
    /// Gaps that it was told of, or would have been if its format could.
    var gaps = 0
    /// When it last got something out of the log.
    var lastMove: Instant
    /// Ends it when nothing comes.
    var idleTimer: LoopTimer?
    var watch: FilePoll?
    /// It waits for room in its socket; until then nothing is written, neither its page nor the feed's bytes.
    var isBlocked = false {
        didSet { if let slot { feed.live[slot].isBlocked = isBlocked } }
    }

    /// Its stream ends as soon as it has got everything.
    var endsAtHead = false

    /// It was sent an id to come back with.
    var hasID = false

    /// It has much to look through, and is in line for that; until its turn comes it does not read the log.
    var isSearching = false

    /// Bytes for this subscriber alone, which go out before anything else; nil: none, as nearly always.
    private(set) var page: SubscriberPage?

    init(
        _ channel: any StreamChannel,
        of hub: EventHub,
        feed: Feed,
        wishes: Subscription,
        client: ClientAddress,
        cursor: LogCursor,
        since: WallTime,
        now: Instant
    ) {
        self.channel = channel
        self.hub = hub
        self.feed = feed
        idle = wishes.idle
        slowness = wishes.slowness
        scope = wishes.scope
        self.client = client
        caller = wishes.caller
        phase = .replaying(cursor)
        remaining = wishes.limit
        self.since = since
        lastMove = now
    }

    var isGone: Bool {
        if case .gone = phase { true } else { false }
    }

    var isWaiting: Bool {
        if case .waiting = phase { true } else { false }
    }

    var isEnding: Bool {
        if case .ending = phase { true } else { false }
    }

    // MARK: The page

    var hasPage: Bool { page != nil }

    /// Records that wait in the page.
    var recordsInPage: Int { page?.records ?? 0 }

    /// Adds bytes behind what is already waiting, from `start` on, among them so many records of the log.
    func enqueue(_ bytes: HeldBytes, from start: Int = 0, records: Int = 0) {
        if let page {
            page.append(bytes, from: start, records: records)
        } else {
            page = SubscriberPage(bytes, from: start, records: records, now: hub.loop.now)
        }
    }

    func enqueue(_ bytes: [UInt8], records: Int = 0) {
        guard !bytes.isEmpty else { return }
        enqueue(HeldBytes(bytes, in: hub.pages), records: records)
    }

    func dropPage() { page = nil }

    /// Offers the page, which there must be, to the kernel until that takes no more.
    func writePage() -> SocketWriter.Outcome {
        var written = 0
        while let next = page?.next {
            let outcome = unsafe next.withUnsafeBytes { unsafe SocketWriter.send(channel.descriptor, $0) }
            guard case .written(let count) = outcome else { return written > 0 ? .written(written) : outcome }
            advance(count)
            written += count
            if count < next.count { break }
        }
        return .written(written)
    }

    /// Takes at most `count` bytes off the page.
    func takePage(_ count: Int) -> ArraySlice<UInt8> {
        guard let taken = page?.next.prefix(count) else { return [] }
        advance(taken.count)
        return taken
    }

    private func advance(_ count: Int) {
        if page?.advance(count, now: hub.loop.now) == false { page = nil }
    }

    // MARK: Positions

    /// How far into the feed it is; nil while it reads on its own.
    func position(in feed: Feed) -> UInt64? {
        if let slot { return feed.live[slot].position }
        if case .live(let position) = phase { return position }
        return nil
    }
}

extension Subscriber: StreamSource {
    func pull(_ count: Int) -> StreamPull { hub.pull(self, count) }
    func channelIsGone() { hub.forget(self, because: .left) }
}
