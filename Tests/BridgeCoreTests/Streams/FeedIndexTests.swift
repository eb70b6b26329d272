import BridgeCore
import Testing
import WebSocketTestSupport

@Suite struct `Feed index` {
    /// Events 12, 15 and 16 of 10, 20 and 30 bytes, after sequence 10.
    private var feed: FeedIndex {
        var feed = FeedIndex(after: 10, position: 100)
        feed.append(sequence: 12, bytes: 10)
        feed.append(sequence: 15, bytes: 20)
        feed.append(sequence: 16, bytes: 30)
        return feed
    }

    @Test func `an empty feed begins where it was told to`() {
        let feed = FeedIndex(after: 10, position: 100)
        #expect(feed.head == 100)
        #expect(feed.tail == 100)
        #expect(feed.sequence(at: 100) == 10)
        #expect(feed.lag(at: 100) == 0)
        #expect(feed.event(at: 100) == nil)
    }

    @Test(arguments: [
        (UInt64(99), Int?.none, UInt64?.none), (100, 3, 10), (101, 3, 10), (109, 3, 10), (110, 2, 12),
        (129, 2, 12),
        (130, 1, 15), (159, 1, 15), (160, 0, 16), (161, nil, nil),
    ])
    func `a position tells what is wholly sent and what is not`(position: UInt64, lag: Int?, seen: UInt64?) {
        #expect(feed.lag(at: position) == lag)
        #expect(feed.sequence(at: position) == seen)
    }

    @Test(arguments: [(UInt64(99), UInt64?.none), (100, 12), (109, 12), (110, 15), (159, 16), (160, nil)])
    func `a position belongs to an event`(position: UInt64, sequence: UInt64?) {
        #expect(feed.event(at: position)?.sequence == sequence)
    }

    @Test(arguments: [
        (UInt64(9), UInt64?.none), (10, 12), (12, 15), (13, 15), (15, 16), (16, .max), (20, .max),
    ])
    func `what comes next is known of what it holds`(after sequence: UInt64, next: UInt64?) {
        #expect(feed.next(after: sequence) == next)
        var shorter = feed
        shorter.evict(before: 110)
        #expect(shorter.next(after: sequence) == (sequence < 12 ? nil : next))
    }

    @Test func `an event has its bounds`() {
        #expect(feed.event(at: 115) == FeedIndex.Event(sequence: 15, start: 110, end: 130))
        #expect(feed.event(at: 130) == FeedIndex.Event(sequence: 16, start: 130, end: 160))
    }

    @Test func `what is evicted is not held, and readers from before it are told`() {
        var feed = feed
        feed.evict(before: 111)
        #expect(feed.tail == 130)
        #expect(feed.sequence(at: 130) == 15)
        #expect(feed.sequence(at: 129) == nil)
        feed.evict(before: 160)
        #expect(feed.tail == 160)
        #expect(feed.sequence(at: 160) == 16)
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `it agrees with a list of events`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var feed = FeedIndex(after: 0)
        var events: [FeedIndex.Event] = []
        var lastEvicted: UInt64 = 0
        for _ in 0..<200 {
            let start = events.last?.end ?? feed.head
            let sequence = feed.headSequence + .random(in: 1...3, using: &random)
            let size = Int.random(in: 1...9, using: &random)
            feed.append(sequence: sequence, bytes: size)
            events.append(FeedIndex.Event(sequence: sequence, start: start, end: start + UInt64(size)))
            if Int.random(in: 0..<5, using: &random) == 0 {
                let limit = UInt64.random(in: feed.tail...feed.head, using: &random)
                feed.evict(before: limit)
                lastEvicted = events.last { $0.start < limit }?.sequence ?? lastEvicted
                events.removeAll { $0.start < limit }
            }
            let position = UInt64.random(in: 0...(feed.head + 1), using: &random)
            let isHeld = feed.tail...feed.head ~= position
            #expect(feed.event(at: position) == events.first { $0.start <= position && position < $0.end })
            #expect(feed.lag(at: position) == (isHeld ? events.count { $0.end > position } : nil))
            let done = events.last { $0.end <= position }?.sequence ?? lastEvicted
            #expect(feed.sequence(at: position) == (isHeld ? done : nil))
        }
    }
}
