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

    /// The id of the first one; the numbers of the others follow.
    private let first: MessageID?
    private var states: MessageStates
    private var waiting: Int
    private var firstLoss: Int?

    /// `ids` are those of one receipt, so their numbers follow one another.
    package init(_ ids: [MessageID]) {
        first = ids.first
        states = MessageStates(count: ids.count)
        waiting = ids.count
    }

    /// All of them, in order.
    package var items: some Sequence<Item> { (0..<states.count).lazy.compactMap(item) }

    /// How much room it takes: one for each run of messages with the same state.
    var size: Int { states.runCount }

    package var verdict: Verdict {
        if let firstLoss, let item = item(firstLoss) { return .lost(item.id, item.state) }
        return waiting == 0 ? .sent : .open
    }

    /// One of the messages came to its end; others are passed over, and so is what is no end.
    package mutating func ended(_ id: MessageID, as state: MessageState) {
        guard state != .queued, let first, id.epoch == first.epoch, id.number >= first.number else { return }
        let index = Int(clamping: id.number - first.number)
        guard index < states.count, states[index] == .queued else { return }
        states[index] = state
        waiting -= 1
        switch state {
        case .queued, .sent: break
        case .expired, .dropped: firstLoss = firstLoss ?? index
        }
    }

    private func item(_ index: Int) -> Item? {
        guard let first else { return nil }
        let id = MessageID(epoch: first.epoch, number: first.number + UInt64(index))
        return Item(id: id, state: states[index])
    }
}
