/// What became of the messages of one connection: of all that wait, and of the newest that no longer do.
///
/// Messages end in the order in which they came, but for a few, so all but those are found by their order, and nothing is
/// hashed.
package struct MessageJournal: Sendable {
    package struct Entry: Equatable, Sendable {
        package var queuedAt: WallTime
        package var state: MessageState
    }

    private struct Line: Sendable {
        let number: UInt64
        var entry: Entry
        /// A later message had ended before; in its place stands the number of the latest.
        var isLate = false
    }

    /// Messages whose end is remembered.
    package static let limit = 10_000

    private let limit: Int
    /// By number; those that have ended out of order stand among them for a while.
    private var waiting = Queue<Line>()
    /// How many those are.
    private var strayCount = 0
    /// Those that have come to their end, oldest end first; by number.
    private var ended = Queue<Line>()
    /// Those among them that are late.
    private var late: [UInt64: Entry] = [:]
    /// Their numbers, oldest end first.
    private var lateNumbers = Queue<UInt64>()

    package init(limit: Int = MessageJournal.limit) {
        self.limit = limit
    }

    package subscript(number: UInt64) -> Entry? {
        if let place = place(of: number) { return waiting[place].entry }
        // Late ones stand behind the one whose number they have.
        let place = ended.partition { $0.number < number }
        guard place < ended.count, ended[place].number == number, !ended[place].isLate else {
            return late[number]
        }
        return ended[place].entry
    }

    /// The message was accepted; its number is above all before it.
    package mutating func queued(_ number: UInt64, at time: WallTime) {
        waiting.append(Line(number: number, entry: Entry(queuedAt: time, state: .queued)))
    }

    /// The message came to its end; false if it was never queued, as a request is not, or has ended before.
    @discardableResult
    package mutating func ended(_ number: UInt64, as state: MessageState) -> Bool {
        guard let place = place(of: number) else { return false }
        waiting[place].entry.state = state
        remember(waiting[place])
        strayCount += 1
        while let first = waiting.first, first.entry.state != .queued {
            waiting.popFirst()
            strayCount -= 1
        }
        if strayCount > waiting.count / 2 + 32 { removeStrays() }
        return true
    }

    /// Messages, which were queued, were not accepted after all; takes as long as there are messages that wait.
    package mutating func withdrawn(_ numbers: Range<UInt64>) {
        removeStrays(and: numbers)
    }

    private mutating func remember(_ line: Line) {
        if let latest = ended.last?.number, latest > line.number {
            late[line.number] = line.entry
            lateNumbers.append(line.number)
            ended.append(Line(number: latest, entry: line.entry, isLate: true))
        } else {
            ended.append(line)
        }
        guard ended.count > limit, let oldest = ended.popFirst(), oldest.isLate else { return }
        if let number = lateNumbers.popFirst() { late[number] = nil }
    }

    /// Where the message stands among those that wait.
    private func place(of number: UInt64) -> Int? {
        // Most that is asked for ends next, or was queued just now.
        let place =
            if waiting.first?.number == number { 0 } else if waiting.last?.number == number {
                waiting.count - 1
            } else { waiting.partition { $0.number < number } }
        guard place < waiting.count, waiting[place].number == number, waiting[place].entry.state == .queued
        else { return nil }
        return place
    }

    private mutating func removeStrays(and others: Range<UInt64> = 0..<0) {
        var rest = Queue<Line>()
        for line in waiting.elements where line.entry.state == .queued && !others.contains(line.number) {
            rest.append(line)
        }
        waiting = rest
        strayCount = 0
    }
}
