/// Who may hold how much of the memory that histories, outboxes and streams have together (`memory.maxBytes`).
///
/// Feeds, which can be filled again from histories, give first, down to a floor; then histories do, the oldest
/// records of the largest one, which readers are told of. Outboxes never give: what does not fit is refused. The
/// shares see to it that nobody can take everything, and that histories always have about a fifth.
///
/// Costs nothing that grows with the number of connections. Whoever holds something keeps the figures up to date.
package struct MemoryBudget: Equatable, Sendable {
    /// All that may be held.
    package var bound: Int
    /// What outboxes hold.
    package var outboxes = 0
    /// What single subscribers hold that are filled on their own.
    package var pages = 0
    /// What is on its way to the store before it may be seen.
    package var staged = 0

    package init(bound: Int) {
        self.bound = bound
    }

    // MARK: Outboxes

    /// What all outboxes may hold: half, as what clients send must not push out all that was received.
    package var outboxLimit: Int { bound / 2 }

    /// What outboxes may take in addition.
    package var outboxRoom: OutboxRoom {
        OutboxRoom(
            total: outboxLimit,
            free: max(0, outboxLimit - outboxes),
            excess: max(0, outboxes - outboxLimit)
        )
    }

    /// What the bodies of requests may have while they arrive, beside the bound: an outbox takes what is whole.
    package var bodyLimit: Int { bound / 8 }

    // MARK: Histories

    /// What all histories may hold beside the others.
    package var historyLimit: Int { max(0, bound - outboxes - staged - min(pages, pageLimit) - feedFloor) }

    /// What histories are brought down to when they hold more than that.
    ///
    /// Lower, so that to choose who gives is no work for each message.
    package var historyTarget: Int { max(0, historyLimit - bound / 64) }

    // MARK: Streams

    /// What feeds may hold for those that lag, while histories hold so much.
    ///
    /// One of four sizes, so that it seldom becomes less: each time all feeds have to be looked at.
    package func feedLimit(histories: Int) -> Int {
        let room = bound - outboxes - staged - min(pages, pageLimit) - histories
        var limit = feedShare
        while limit > room, limit > feedFloor { limit /= 2 }
        return limit
    }

    /// More would not make streams any faster.
    private static let largestFeedShare = 64 << 20

    private var feedShare: Int { min(MemoryBudget.largestFeedShare, bound / 4) }

    /// Feeds may always have this much, so that a full history does not have every subscriber filled on its own.
    private var feedFloor: Int { feedShare / 8 }

    /// What single subscribers may hold together; one who is at a record that is larger has that, and no other gives
    /// for it.
    package var pageLimit: Int { bound / 4 }

    /// What they are brought down to, by disconnecting those that stand still, when they hold more than that.
    package var pageTarget: Int { pageLimit - pageLimit / 8 }

    /// Up to here pulled subscribers are filled, who then wait until there is less.
    ///
    /// Lower than the limit by what a record may have, so that nobody is disconnected for it.
    package var pulledPageLimit: Int { pageLimit / 2 }

    /// What is read from histories for one subscriber at a time, `wanted` at most; a larger record comes alone.
    ///
    /// The less the more the others have, so that many who are slow get little each, and nobody nothing.
    package func pageSize(wanted: Int) -> Int {
        min(wanted, max(1, (pageLimit / 4 - pages) / 8))
    }
}

/// How much outboxes may hold.
package struct OutboxRoom: Equatable, Sendable {
    /// All of them together, were they empty.
    package var total: Int
    /// In addition to what they hold.
    package var free: Int
    /// What they hold beyond that.
    package var excess: Int

    package init(total: Int, free: Int, excess: Int = 0) {
        self.total = total
        self.free = free
        self.excess = excess
    }

    /// As much as there is to hold.
    package static let unlimited = OutboxRoom(total: .max, free: .max)
}

/// What knows about the memory that all outboxes share; used on the loop alone.
@MainActor package protocol OutboxMemory: AnyObject {
    /// What outboxes may take now.
    var outboxRoom: OutboxRoom { get }
    /// An outbox holds so many bytes more than before, or less; others may have to give.
    func outboxGrew(by bytes: Int)
}

/// What is held beside the bytes of a payload.
package enum MemoryCost {
    /// The head of an array on the heap, and what the allocator adds.
    private static let allocation = 48

    /// What an element of a `Queue` costs that has an array on the heap; the queue has up to twice the places.
    static func inQueue<Element>(_: Element.Type) -> Int {
        2 * MemoryLayout<Element?>.stride + allocation
    }
}
