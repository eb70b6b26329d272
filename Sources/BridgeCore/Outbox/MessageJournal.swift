/// What became of the messages of one connection: of all that wait, and of the newest that no longer do.
package struct MessageJournal: Sendable {
    package struct Entry: Equatable, Sendable {
        package var queuedAt: WallTime
        package var state: MessageState
    }

    /// Messages whose end is remembered.
    package static let limit = 10_000

    private let limit: Int
    private var entries: [UInt64: Entry] = [:]
    /// The numbers of those that have come to their end, oldest end first.
    private var ended = Queue<UInt64>()

    package init(limit: Int = MessageJournal.limit) {
        self.limit = limit
    }

    package subscript(number: UInt64) -> Entry? { entries[number] }

    /// The message was accepted.
    package mutating func queued(_ number: UInt64, at time: WallTime) {
        entries[number] = Entry(queuedAt: time, state: .queued)
    }

    /// The message, which was queued, came to its end.
    package mutating func ended(_ number: UInt64, as state: MessageState) {
        guard let place = entries.index(forKey: number), entries.values[place].state == .queued
        else { return }
        entries.values[place].state = state
        ended.append(number)
        while ended.count > limit, let oldest = ended.popFirst() { entries[oldest] = nil }
    }
}
