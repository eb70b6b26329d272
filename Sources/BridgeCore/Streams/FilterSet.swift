internal import WebSocketProtocol

/// Asks many filters about the same record: what several of them look for in a message is looked for once.
package struct FilterSet: Sendable {
    private struct Asker: Sendable {
        let filter: StreamFilter
        /// Where in the findings the values of its conditions are.
        let places: [Int]

        func accepts(_ message: Message, _ found: [Range<Int>?]) -> Bool {
            filter.content.accepts(message, found, places: places)
        }
    }

    private let askers: [Asker]
    private let search: JSONSearch

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
    }

    /// Calls `body` with the offset of each filter that accepts the record.
    package func forEachAccepting(_ record: Record, _ body: (Int) -> Void) {
        /// Nil as long as nobody asked; empty if the message is not JSON.
        var found: [Range<Int>?]?
        // By offset, since an element that is taken out costs a reference count for each of its lists.
        for offset in askers.indices where askers[offset].filter.acceptsEnvelope(of: record) {
            if case .message(let message) = record.payload, !askers[offset].filter.content.isEmpty {
                let values = found ?? message.values(search) ?? []
                found = values
                guard !values.isEmpty, askers[offset].accepts(message, values) else { continue }
            }
            body(offset)
        }
    }
}
