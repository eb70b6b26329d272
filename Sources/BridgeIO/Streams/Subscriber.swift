internal import BridgeCore

/// One open event stream.
///
/// It begins by *replaying*: it reads the log on its own, page by page as fast as its client takes them. At the
/// head it becomes *live* and gets the feed's bytes. One with a limit reads on its own to the end.
final class Subscriber {
    enum Phase {
        /// Reads the log; can become live or ending.
        case replaying(LogCursor)
        /// Gets the bytes of the feed from this position, unless the feed's table has it; can fall back to
        /// replaying when it lags too much, or become ending.
        case live(UInt64)
        /// Gets the rest of its page, then its connection ends.
        case ending
        /// Its connection is no longer written to; final.
        case gone
    }

    let channel: any StreamChannel
    /// A merged stream gets another one when its connections change.
    var feed: Feed
    let wishes: Subscription
    let client: ClientAddress
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

    /// Bytes for this subscriber alone, which go out before anything else.
    private var page: ArraySlice<UInt8> = []
    /// A large page behind it, whose bytes others share: added to it they would be copied.
    private var nextPage: ArraySlice<UInt8> = []
    /// How many records of the log came into the page since it was last empty.
    private var pageRecords = 0

    init(
        _ channel: any StreamChannel,
        feed: Feed,
        wishes: Subscription,
        client: ClientAddress,
        cursor: LogCursor,
        since: WallTime,
        now: Instant
    ) {
        self.channel = channel
        self.feed = feed
        self.wishes = wishes
        self.client = client
        phase = .replaying(cursor)
        remaining = wishes.limit
        self.since = since
        lastMove = now
    }

    var isGone: Bool {
        if case .gone = phase { true } else { false }
    }

    var isEnding: Bool {
        if case .ending = phase { true } else { false }
    }

    // MARK: The page

    var hasPage: Bool { !page.isEmpty }

    /// Records that wait in the page.
    var recordsInPage: Int { hasPage ? pageRecords : 0 }

    /// Adds bytes behind what is already waiting, among them so many records of the log.
    func enqueue(_ bytes: ArraySlice<UInt8>, records: Int = 0) {
        if hasPage {
            if !nextPage.isEmpty {
                nextPage.append(contentsOf: bytes)
            } else if bytes.count > Feed.largeBytes {
                nextPage = bytes
            } else {
                page.append(contentsOf: bytes)
            }
            pageRecords += records
        } else {
            page = bytes
            pageRecords = records
        }
    }

    func enqueue(_ bytes: [UInt8], records: Int = 0) { enqueue(bytes[...], records: records) }

    /// Offers the page to the kernel once.
    func writePage() -> SocketWriter.Outcome {
        let outcome = unsafe page.withUnsafeBytes { unsafe SocketWriter.send(channel.descriptor, $0) }
        if case .written(let count) = outcome { advance(count) }
        return outcome
    }

    /// Takes at most `count` bytes off the page.
    func takePage(_ count: Int) -> ArraySlice<UInt8> {
        let taken = page.prefix(count)
        advance(taken.count)
        return taken
    }

    private func advance(_ count: Int) {
        page = page.dropFirst(count)
        guard page.isEmpty else { return }
        page = nextPage
        // Also lets go of the memory behind an empty slice.
        nextPage = []
    }

    // MARK: Positions

    /// How far into the feed it is; nil while it reads on its own.
    func position(in feed: Feed) -> UInt64? {
        if let slot { return feed.live[slot].position }
        if case .live(let position) = phase { return position }
        return nil
    }
}
