internal import BridgeCore

/// The feeds that there are, found by what they are and by the connections whose records they take.
struct FeedTable {
    private(set) var feeds: [Feed.Key: Feed] = [:]
    private var takers: [ConnectionIndex: [Feed]] = [:]
    /// How many feeds there are of each shape, in different framings.
    private var shapes: [StreamShape: Int] = [:]

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
    func takers(of connection: ConnectionIndex) -> [Feed] { takers[connection] ?? [] }

    /// Whether a stream of this shape would not be one kind too many.
    func hasRoom(for shape: StreamShape, limit: Int) -> Bool {
        shapes.count < limit || shapes[shape] != nil
    }

    mutating func add(_ feed: Feed) {
        feeds[feed.key] = feed
        shapes[feed.key.shape, default: 0] += 1
        for connection in feed.filter.connections.indices { takers[connection, default: []].append(feed) }
    }

    mutating func remove(_ feed: Feed) {
        guard feeds.removeValue(forKey: feed.key) != nil else { return }
        let left = (shapes[feed.key.shape] ?? 1) - 1
        shapes[feed.key.shape] = left > 0 ? left : nil
        for connection in feed.filter.connections.indices {
            takers[connection]?.removeAll { $0 === feed }
            if takers[connection]?.isEmpty ?? false { takers[connection] = nil }
        }
    }
}
