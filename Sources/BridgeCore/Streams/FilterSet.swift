internal import WebSocketProtocol

/// Asks many filters about the same record, at the cost of those that may accept it.
///
/// What several of them look for in a message is looked for once. A filter that wants a certain value, or certain
/// topics, is found by these: the others are not asked at all.
package struct FilterSet: Sendable {
    private struct Asker: Sendable {
        let filter: StreamFilter
        /// Where in the findings the values of its conditions are.
        let places: [Int]

        func accepts(_ message: Message, _ found: [Range<Int>?]) -> Bool {
            !found.isEmpty && filter.content.accepts(message, found, places: places)
        }
    }

    /// What a message has if a filter accepts it.
    private enum Key: Hashable {
        case topic([UInt8])
        case value([UInt8], place: Int)
    }

    /// Messages that are worth looking into before anyone was asked.
    private struct Sought: Hashable {
        let types: RecordTypes
        let directions: RecordDirections
    }

    private let askers: [Asker]
    private let search: JSONSearch
    /// Those that can only be found by asking them.
    private var open: [Int] = []
    private var byTopic: [[UInt8]: [Int]] = [:]
    /// By the place of a condition, and by its value.
    private var byValue: [[[UInt8]: [Int]]]
    /// The messages that those which are found by a value are for.
    private var sought: Set<Sought> = []
    /// No value that is looked for is longer.
    private var longestValue = 0

    package init(_ filters: [StreamFilter]) {
        var places: [JSONPointer: Int] = [:]
        var pointers: [JSONPointer] = []
        askers = filters.map { filter in
            let own = filter.content.conditions.map { condition in
                if let place = places[condition.pointer] { return place }
                places[condition.pointer] = pointers.count
                pointers.append(condition.pointer)
                return pointers.count - 1
            }
            return Asker(filter: filter, places: own)
        }
        search = JSONSearch(pointers)
        byValue = pointers.map { _ in [:] }
        sortIn()
    }

    /// Puts each filter where the fewest others are.
    private mutating func sortIn() {
        var shares: [Key: Int] = [:]
        for asker in askers {
            for key in keys(of: asker).joined() { shares[key, default: 0] += 1 }
        }
        for (offset, asker) in askers.enumerated() {
            func crowd(_ way: [Key]) -> Int { way.reduce(0) { $0 + shares[$1, default: 0] } }
            guard let best = keys(of: asker).min(by: { crowd($0) < crowd($1) }) else {
                open.append(offset)
                continue
            }
            for key in best { put(offset, key) }
        }
    }

    private mutating func put(_ offset: Int, _ key: Key) {
        switch key {
        case .topic(let topic):
            byTopic[topic, default: []].append(offset)
        case .value(let value, let place):
            byValue[place][value, default: []].append(offset)
            let filter = askers[offset].filter
            sought.insert(Sought(types: filter.types, directions: filter.directions))
            longestValue = max(longestValue, value.count)
        }
    }

    /// By what a filter can be found, in each of these ways: under every key of the way.
    private func keys(of asker: Asker) -> [[Key]] {
        let conditions = zip(asker.filter.content.conditions, asker.places)
        var ways = conditions.map { [Key.value(Array($0.value.utf8), place: $1)] }
        let topics = asker.filter.topics.compactMap(\.onlyTopic)
        if !topics.isEmpty, topics.count == asker.filter.topics.count {
            ways.append(topics.map { Key.topic(Array($0.utf8)) })
        }
        return ways
    }

    /// Calls `body` with the offset of each filter that accepts the record.
    package func forEachAccepting(_ record: Record, _ body: (Int) -> Void) {
        guard case .message(let message) = record.payload else {
            // It has no topic and no content, so anyone may accept it.
            for offset in askers.indices where askers[offset].filter.acceptsEnvelope(of: record) {
                body(offset)
            }
            return
        }
        var found: [Range<Int>?]? = isSought(record) ? message.values(search) ?? [] : nil
        // By offset, since an element that is taken out costs a reference count for each of its lists.
        for offset in candidates(record, message, found ?? [])
        where askers[offset].filter.acceptsEnvelope(of: record) {
            if !askers[offset].places.isEmpty {
                let values = found ?? message.values(search) ?? []
                found = values
                guard askers[offset].accepts(message, values) else { continue }
            }
            body(offset)
        }
    }

    private func isSought(_ record: Record) -> Bool {
        let type = RecordTypes(of: record.payload)
        return sought.contains { $0.types.contains(type) && $0.directions.contains(record.direction) }
    }

    /// Those that may accept a message, in ascending order.
    private func candidates(_ record: Record, _ message: Message, _ found: [Range<Int>?]) -> [Int] {
        var candidates = open
        if !byTopic.isEmpty, let topic = record.shownTopic { candidates += byTopic[Array(topic.utf8)] ?? [] }
        for place in found.indices where !byValue[place].isEmpty {
            guard let range = found[place], range.count <= longestValue * JSONString.longestEscape + 2 else {
                continue
            }
            candidates += byValue[place][JSONString.meaning(of: message.bytes[range])] ?? []
        }
        if candidates.count > open.count { candidates.sort() }
        return candidates
    }
}
