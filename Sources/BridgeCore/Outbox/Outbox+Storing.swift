/// Messages that are to be stored before they go out.
extension Outbox {
    /// Everything up to this number is safe on disk, and may be handed out.
    package mutating func stored(through number: UInt64) {
        durableThrough = number
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
