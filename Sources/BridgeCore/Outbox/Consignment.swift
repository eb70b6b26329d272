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

    package let ids: MessageIDs
    package private(set) var states: MessageStates
    private var waiting: Int
    private var firstLoss: Int?

    package init(_ ids: MessageIDs) {
        self.ids = ids
        states = MessageStates(count: ids.count)
        waiting = ids.count
    }

    /// All of them, in order.
    package var items: some Sequence<Item> { ids.indices.lazy.map(item) }

    /// How much room it takes: one for each run of messages with the same state.
    var size: Int { states.runCount }

    package var verdict: Verdict {
        if let firstLoss { return .lost(ids[firstLoss], states[firstLoss]) }
        return waiting == 0 ? .sent : .open
    }

    /// One of the messages came to its end; others are passed over, and so is what is no end.
    package mutating func ended(_ id: MessageID, as state: MessageState) {
        guard state != .queued, let index = ids.firstIndex(of: id), states[index] == .queued else { return }
        states[index] = state
        waiting -= 1
        switch state {
        case .queued, .sent: break
        case .expired, .dropped: firstLoss = firstLoss ?? index
        }
    }

    private func item(_ index: Int) -> Item {
        Item(id: ids[index], state: states[index])
    }
}
