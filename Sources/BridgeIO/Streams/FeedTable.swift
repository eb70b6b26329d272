internal import BridgeCore

/// The feeds that there are, found by what they are and by the connections whose records they take.
struct FeedTable {
    private(set) var feeds: [Feed.Key: Feed] = [:]
    private var takers = TakerTable<Feed>()
    /// Of format and filters.
    private(set) var combinations = CountedSet<StreamShape>()

    /// What all feeds may hold together for subscribers that lag, and what one may.
    private static let maxBytes = 64 << 20
    private static let feedBytes = (128 << 10)...(4 << 20)

    var all: Dictionary<Feed.Key, Feed>.Values { feeds.values }

    /// What each feed may hold.
    var bytesPerFeed: Int {
        let share = FeedTable.maxBytes / max(1, feeds.count)
        return min(max(share, FeedTable.feedBytes.lowerBound), FeedTable.feedBytes.upperBound)
    }

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
