/// The states of messages that stand in a row, kept as runs of equal ones: messages that were accepted together
/// are mostly sent together.
package struct MessageStates: Equatable, Sendable {
    private struct Run: Equatable, Sendable {
        var start: Int
        var state: MessageState
    }

    package let count: Int
    /// In order; each ends where the next one starts, and differs from it.
    private var runs: [Run]

    /// All of them are queued.
    init(count: Int) {
        self.count = count
        runs = count > 0 ? [Run(start: 0, state: .queued)] : []
    }

    /// So many in each of these states, one behind the other; no number is below 1.
    package init(_ lengths: [(count: Int, state: MessageState)]) {
        runs = []
        var total = 0
        for length in lengths {
            if runs.last?.state != length.state { runs.append(Run(start: total, state: length.state)) }
            total += length.count
        }
        count = total
    }

    /// How many stand in the same state, one behind the other.
    var lengths: [(count: Int, state: MessageState)] {
        runs.indices.map { place in
            let end = place + 1 < runs.count ? runs[place + 1].start : count
            return (end - runs[place].start, runs[place].state)
        }
    }

    /// How many runs they make, which is what they cost.
    var runCount: Int { runs.count }

    subscript(index: Int) -> MessageState {
        get { runs[place(of: index)].state }
        set { set(index, newValue) }
    }

    private mutating func set(_ index: Int, _ state: MessageState) {
        var place = place(of: index)
        let run = runs[place]
        guard run.state != state else { return }
        let end = place + 1 < runs.count ? runs[place + 1].start : count
        if index + 1 < end { runs.insert(Run(start: index + 1, state: run.state), at: place + 1) }
        if run.start == index {
            runs[place].state = state
        } else {
            place += 1
            runs.insert(Run(start: index, state: state), at: place)
        }
        if place + 1 < runs.count, runs[place + 1].state == state { runs.remove(at: place + 1) }
        if place > 0, runs[place - 1].state == state { runs.remove(at: place) }
    }

    /// The run in which a message stands.
    private func place(of index: Int) -> Int {
        precondition(0..<count ~= index)
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].start <= index { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }
}
