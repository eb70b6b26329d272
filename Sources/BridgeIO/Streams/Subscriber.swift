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
    let feed: Feed
    /// When it came.
    let since: WallTime
    var phase: Phase
    /// Its place in the feed's table, while it is live and written to directly.
    var slot: Int?
    /// Records that it may still get; nil: no limit.
    var remaining: Int?
    var watch: FilePoll?
    /// It waits for room in its socket; until then nothing is written, neither its page nor the feed's bytes.
    var isBlocked = false {
        didSet { if let slot { feed.live[slot].isBlocked = isBlocked } }
    }

    /// Bytes for this subscriber alone, which go out before anything else.
    private var page: [UInt8] = []
    private var pageOffset = 0

    init(_ channel: any StreamChannel, feed: Feed, phase: Phase, remaining: Int?, since: WallTime) {
        self.channel = channel
        self.feed = feed
        self.phase = phase
        self.remaining = remaining
        self.since = since
    }

    var isGone: Bool {
        if case .gone = phase { true } else { false }
    }

    var isEnding: Bool {
        if case .ending = phase { true } else { false }
    }

    // MARK: The page

    var hasPage: Bool { pageOffset < page.count }

    /// Adds bytes behind what is already waiting.
    func enqueue(_ bytes: [UInt8]) {
        if hasPage {
            page.append(contentsOf: bytes)
        } else {
            page = bytes
            pageOffset = 0
        }
    }

    /// Offers the page to the kernel once.
    func writePage() -> SocketWriter.Outcome {
        let outcome = unsafe page.withUnsafeBytes { bytes in
            unsafe SocketWriter.send(
                channel.descriptor,
                UnsafeRawBufferPointer(rebasing: bytes[pageOffset...])
            )
        }
        if case .written(let count) = outcome { advance(count) }
        return outcome
    }

    /// Takes at most `count` bytes off the page.
    func takePage(_ count: Int) -> ArraySlice<UInt8> {
        let taken = page[pageOffset..<min(page.count, pageOffset + count)]
        advance(taken.count)
        return taken
    }

    private func advance(_ count: Int) {
        pageOffset += count
        guard !hasPage else { return }
        page = []
        pageOffset = 0
    }

    // MARK: Positions

    /// How far into the feed it is; nil while it reads on its own.
    func position(in feed: Feed) -> UInt64? {
        if let slot { return feed.live[slot].position }
        if case .live(let position) = phase { return position }
        return nil
    }
}
