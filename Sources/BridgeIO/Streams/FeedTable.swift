internal import BridgeCore

/// The feeds that there are, found by what they are and by the connections whose records they take.
struct FeedTable {
    private(set) var feeds: [Feed.Key: Feed] = [:]
    private var takers: [ConnectionIndex: Takers] = [:]
    /// How many feeds there are of each combination of format and filters.
    private var combinations: [StreamShape: Int] = [:]

    /// The feeds that may take records of a connection, and how they are asked whether they do.
    private struct Takers {
        var feeds: [Feed] = []
        /// Made when the first record comes after a change.
        var filters: FilterSet?
    }

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
    func takers(of connection: ConnectionIndex) -> [Feed] { takers[connection]?.feeds ?? [] }

    /// The feeds that take this record.
    mutating func takers(of record: Record) -> [Feed] {
        guard let feeds = takers[record.connection]?.feeds else { return [] }
        let filters = takers[record.connection]?.filters ?? FilterSet(feeds.map(\.filter))
        takers[record.connection]?.filters = filters
        var taking: [Feed] = []
        filters.forEachAccepting(record) { taking.append(feeds[$0]) }
        return taking
    }

    /// Whether a stream of this shape would not be one kind too many.
    func hasRoom(for shape: StreamShape, limit: Int) -> Bool {
        combinations.count < limit || combinations[shape.combination] != nil
    }

    mutating func add(_ feed: Feed) {
        feeds[feed.key] = feed
        combinations[feed.key.shape.combination, default: 0] += 1
        for connection in feed.filter.connections.indices {
            takers[connection, default: Takers()].feeds.append(feed)
            takers[connection]?.filters = nil
        }
    }

    mutating func remove(_ feed: Feed) {
        guard feeds.removeValue(forKey: feed.key) != nil else { return }
        let combination = feed.key.shape.combination
        let left = (combinations[combination] ?? 1) - 1
        combinations[combination] = left > 0 ? left : nil
        for connection in feed.filter.connections.indices {
            takers[connection]?.feeds.removeAll { $0 === feed }
            takers[connection]?.filters = nil
            if takers[connection]?.feeds.isEmpty ?? false { takers[connection] = nil }
        }
    }
}
