/// The messages of one request, accepted together, and what is known of each.
package struct Consignment: Equatable, Sendable {
    /// What can be said of all of them.
    package enum Verdict: Equatable, Sendable {
        /// Some still wait, and none is lost.
        case open
        case sent
        /// This one, perhaps of several, will never be sent.
        case lost(MessageID, MessageState)
    }

    package struct Item: Equatable, Sendable {
        package var id: MessageID
        package var state = MessageState.queued
    }

    package private(set) var items: [Item]
    private var waiting: Int
    private var firstLoss: Int?

    /// `ids` are those of one receipt, so their numbers follow one another.
    package init(_ ids: [MessageID]) {
        items = ids.map { Item(id: $0) }
        waiting = ids.count
    }

    package var verdict: Verdict {
        if let firstLoss { return .lost(items[firstLoss].id, items[firstLoss].state) }
        return waiting == 0 ? .sent : .open
    }

    /// One of the messages came to its end; others are passed over, and so is what is no end.
    package mutating func ended(_ id: MessageID, as state: MessageState) {
        guard state != .queued, let first = items.first?.id, id.number >= first.number else { return }
        let index = Int(clamping: id.number - first.number)
        guard items.indices.contains(index), items[index].id == id, items[index].state == .queued else {
            return
        }
        items[index].state = state
        waiting -= 1
        switch state {
        case .queued, .sent: break
        case .expired, .dropped: firstLoss = firstLoss ?? index
        }
    }
}
