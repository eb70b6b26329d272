internal import BridgeCore

/// The feeds that there are, found by what they are and by the connections whose records they take.
struct FeedTable {
    private(set) var feeds: [Feed.Key: Feed] = [:]
    private var takers = TakerTable<Feed>()
    /// Of format and filters.
    private(set) var combinations = CountedSet<StreamShape>()
    /// What all feeds may hold together for subscribers that lag.
    var maxBytes: Int

    /// What one feed may hold at most.
    private static let mostPerFeed = 4 << 20

    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    var all: Dictionary<Feed.Key, Feed>.Values { feeds.values }

    /// What each feed may hold.
    var bytesPerFeed: Int { min(maxBytes / max(1, feeds.count), FeedTable.mostPerFeed) }

    /// The feeds that may take records of this connection.
    func takers(of connection: ConnectionIndex) -> [Feed] { takers[connection] }

    /// The feeds that take this record.
    mutating func takers(of record: Record) -> [Feed] { takers.all(of: record) }

    mutating func add(_ feed: Feed) {
        feeds[feed.key] = feed
        combinations.insert(feed.key.shape.combination)
        takers.add(feed, feed.filter)
    }

    mutating func remove(_ feed: Feed) {
        guard feeds.removeValue(forKey: feed.key) != nil else { return }
        combinations.remove(feed.key.shape.combination)
        takers.remove(feed, feed.filter)
    }
}
