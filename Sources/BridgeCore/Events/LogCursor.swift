/// What a reader of the event log has seen, over the connections that it reads.
///
/// Made by `EventLog.cursor(at:of:)`, moved by `EventLog.read`, and before that by `EventLog.goBack` if it `isSeeking`.
/// Where `EventLog.question` has one, the answer moves it. While a reader holds it, its losses are counted exactly.
package struct LogCursor: Equatable, Sendable {
    struct Place: Equatable, Sendable {
        let connection: ConnectionIndex
        /// The ordinal of the next record to read, or to be told of as lost; nil: the disk has to be asked.
        var next: UInt64?
        /// What was lost before this ordinal was so when the reader began.
        var begin: UInt64
        /// Whatever is the oldest is next, and nothing is lost before it.
        var takesOldest = false
        /// Where `next` is one that the reader may have seen.
        var start: Start?
    }

    /// The reader stands behind `seen`, and between that and the stored record before it there may be others that could not
    /// be stored.
    struct Start: Equatable, Sendable {
        /// Of the stored record; `next` is the ordinal behind its own.
        var stored: UInt64
        var seen: UInt64
    }

    /// Losses that no place tells of, to be announced with the next gap.
    struct Loss: Equatable, Sendable {
        /// Nil: unknown.
        var count: UInt64?
        /// The sequence of the last lost record.
        var last: UInt64
        /// Where the reader stood before it.
        var from: UInt64

        static func + (left: Loss?, right: Loss) -> Loss {
            guard let left else { return right }
            let count = left.count.flatMap { count in right.count.map { count + $0 } }
            return Loss(count: count, last: max(left.last, right.last), from: left.from)
        }
    }

    /// Everything up to this sequence has been seen, filtered out, or announced as lost, but for `loss`.
    package internal(set) var position: UInt64
    var places: [Place]
    var loss: Loss?
    /// How many records it is still to go back by, of those that the reader wants.
    var wanted = 0
    /// Going back it has looked at everything from here on; looking for a time it has to begin behind it at the latest.
    var back: UInt64 = 0
    /// The oldest record that it went back by; nil: there was none.
    var oldest: UInt64?
    /// It is to begin with the first record that is not older, which is on disk.
    var since: WallTime?

    /// Whether it has not been found yet where this reader begins.
    package var isSeeking: Bool { wanted > 0 || since != nil }

    /// A sequence from which a reader that comes back gets what this one would get.
    package var resumption: UInt64 { loss?.from ?? position }

    /// Moves on by a record.
    mutating func took(_ sequence: UInt64, _ ordinal: UInt64, of index: Int) {
        position = sequence
        places[index].next = ordinal + 1
        places[index].start = nil
    }

    /// Moves a place beyond lost records, and notes the loss.
    mutating func lose(_ index: Int, to end: UInt64, last: UInt64) {
        guard let next = places[index].next, end > next else { return }
        var count: UInt64? = end - next
        if let start = places[index].start {
            // How many of them the reader has seen is known where there was nothing else in between.
            count = last - min(last, start.stored) == end - next ? last - min(last, start.seen) : nil
        }
        places[index].next = end
        places[index].start = nil
        guard count != 0 else { return }
        loss = loss + Loss(count: count, last: last, from: position)
    }
}
