/// Asks many filters about the same record: what several of them look for in a message is looked for once.
package struct FilterSet: Sendable {
    private struct Asker: Sendable {
        let filter: StreamFilter
        /// Where in the findings the values of its conditions are.
        let places: [Int]
    }

    private let askers: [Asker]
    private let search: JSONSearch

    package init(_ filters: [StreamFilter] = []) {
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
        for (offset, asker) in askers.enumerated() where asker.filter.acceptsEnvelope(of: record) {
            if case .message(let message) = record.payload, !asker.filter.content.isEmpty {
                let values = found ?? message.values(search) ?? []
                found = values
                guard !values.isEmpty, asker.filter.content.accepts(message, values, places: asker.places)
                else {
                    continue
                }
            }
            body(offset)
        }
    }
}
