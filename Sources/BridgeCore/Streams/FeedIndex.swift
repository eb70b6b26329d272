/// Where the events of an encoded stream lie in its bytes, which only grow at the end and go at the front.
///
/// Positions count bytes from the beginning of the stream, and never start anew. The bytes are someone
/// else's; so is the bound on them, which `evict` carries out.
package struct FeedIndex {
    /// One event in the stream.
    package struct Event: Equatable, Sendable {
        package var sequence: UInt64
        package var start: UInt64
        /// The position behind its last byte, where the next one starts.
        package var end: UInt64

        package init(sequence: UInt64, start: UInt64, end: UInt64) {
            self.sequence = sequence
            self.start = start
            self.end = end
        }
    }

    private struct Entry {
        var sequence: UInt64
        var start: UInt64
    }

    private var entries = Queue<Entry>()
    /// The position behind the newest event.
    package private(set) var head: UInt64
    /// The sequence of the newest event, evicted or not.
    package private(set) var headSequence: UInt64
    /// The last sequence that is not held any more.
    private var lostSequence: UInt64

    /// An empty stream, which holds what comes after `sequence`.
    package init(after sequence: UInt64, position: UInt64 = 0) {
        head = position
        headSequence = sequence
        lostSequence = sequence
    }

    /// What it takes of the process' memory.
    package var memoryBytes: Int { entries.count * FeedIndex.entryBytes }
    /// A queue has up to twice the places that it needs.
    private static let entryBytes = 2 * MemoryLayout<Entry?>.stride

    /// The position of the oldest event that is held.
    package var tail: UInt64 { entries.first?.start ?? head }

    /// Adds an event of so many bytes; sequences come in ascending order.
    package mutating func append(sequence: UInt64, bytes: Int) {
        precondition(sequence > headSequence && bytes > 0)
        entries.append(Entry(sequence: sequence, start: head))
        head += UInt64(bytes)
        headSequence = sequence
    }

    /// Forgets the events that start before `position`.
    package mutating func evict(before position: UInt64) {
        while let oldest = entries.first, oldest.start < position {
            lostSequence = oldest.sequence
            entries.popFirst()
        }
    }

    /// The event of which the byte at `position` is a part; nil at the head and for what is not held.
    package func event(at position: UInt64) -> Event? {
        guard tail..<head ~= position else { return nil }
        let offset = entries.partition { $0.start <= position } - 1
        let end = offset + 1 < entries.count ? entries[offset + 1].start : head
        return Event(sequence: entries[offset].sequence, start: entries[offset].start, end: end)
    }

    /// The sequence up to which a reader at `position` has seen everything; nil for what is not held.
    ///
    /// An event that is not wholly before `position` does not count.
    package func sequence(at position: UInt64) -> UInt64? {
        guard tail...head ~= position else { return nil }
        guard position < head else { return headSequence }
        let offset = entries.partition { $0.start <= position } - 1
        return offset > 0 ? entries[offset - 1].sequence : lostSequence
    }

    /// The first event after `sequence`, which is `UInt64.max` if there is none yet; nil if that is not known.
    package func next(after sequence: UInt64) -> UInt64? {
        guard sequence >= lostSequence else { return nil }
        let offset = entries.partition { $0.sequence <= sequence }
        return offset < entries.count ? entries[offset].sequence : .max
    }

    /// How many events a reader at `position` has not wholly got yet; nil for what is not held.
    package func lag(at position: UInt64) -> Int? {
        guard tail...head ~= position else { return nil }
        guard position < head else { return 0 }
        return entries.count - entries.partition { $0.start <= position } + 1
    }
}
