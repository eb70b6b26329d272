/// Messages that are to be stored before they go out.
extension Outbox {
    /// Everything up to this number is safe on disk, and may be handed out.
    package mutating func stored(through number: UInt64) {
        durableThrough = number
    }

    /// Drops the oldest that wait where these, which are stored by now, found no room beside them; returns which.
    ///
    /// What is still being stored does not count. As long as it is, the outbox may hold more than its bounds.
    package mutating func makeRoom(
        for numbers: Range<UInt64>,
        within room: OutboxRoom = .unlimited
    ) -> [MessageID] {
        guard settings.overflow == .dropOldest else { return [] }
        let later = queued.partition { $0.number < numbers.upperBound }
        let first = queued.partition { $0.number < numbers.lowerBound }
        let pending = (later..<queued.count).reduce(0) { $0 + queued[$1].size }
        let size = (first..<later).reduce(0) { $0 + queued[$1].size }
        let bounds = Bounds(
            messages: settings.maxMessages + queued.count - later,
            bytes: settings.maxBytes + pending,
            memory: memoryBytes - min(room.excess, Outbox.memoryBytes(later - first, size))
        )
        return makeRoom(within: bounds, before: numbers.lowerBound)
    }

    /// Takes messages out that could not be stored, as if they had never come, and returns which of them were still
    /// there; their numbers are not used again.
    package mutating func withdraw(_ numbers: Range<UInt64>) -> [MessageID] {
        var behind: [Entry] = []
        var withdrawn: [MessageID] = []
        while let last = queued.last, last.number >= numbers.lowerBound {
            queued.popLast()
            if numbers.contains(last.number) {
                queuedBytes -= last.size
                withdrawn.append(id(last.number))
            } else {
                behind.append(last)
            }
        }
        for entry in behind.reversed() { queued.append(entry) }
        return withdrawn.reversed()
    }
}
