/// The subscribers of a feed that are written to directly and have reached its bytes.
///
/// What the fan-out needs of each lies side by side in one array, so that a delivery costs its system call and
/// little more: no reference is counted and nothing is allocated for a subscriber that keeps up.
@safe struct LiveTable {
    struct Entry {
        var descriptor: Int32
        /// What `Subscriber.isBlocked` is, at hand for the fan-out.
        var isBlocked: Bool
        /// How far into the feed it has been written to.
        var position: UInt64
    }

    /// What became of writing to a subscriber all that it has not got.
    enum Delivery {
        /// It has everything.
        case complete
        /// The kernel takes no more now; its entry says so.
        case blocked
        /// The peer is gone.
        case gone
    }

    private(set) var entries: [Entry] = []
    /// The subscriber of each entry.
    private(set) var owners: [Subscriber] = []

    mutating func add(_ subscriber: Subscriber, descriptor: Int32, position: UInt64) {
        subscriber.slot = entries.count
        entries.append(
            Entry(descriptor: descriptor, isBlocked: subscriber.isBlocked, position: position)
        )
        owners.append(subscriber)
    }

    /// Takes a subscriber out; the last one moves into its slot.
    mutating func remove(_ subscriber: Subscriber) -> Entry? {
        guard let slot = subscriber.slot else { return nil }
        subscriber.slot = nil
        let entry = entries[slot]
        let last = entries.count - 1
        if slot != last {
            entries[slot] = entries[last]
            owners[slot] = owners[last]
            owners[slot].slot = slot
        }
        entries.removeLast()
        owners.removeLast()
        return entry
    }

    subscript(slot: Int) -> Entry {
        get { entries[slot] }
        set { entries[slot] = newValue }
    }

    /// Writes what each subscriber has not got yet.
    ///
    /// - Returns: those that blocked in this round, and those that are gone.
    mutating func deliver(_ bytes: borrowing FeedBytes) -> (blocked: [Subscriber], gone: [Subscriber]) {
        let head = bytes.head
        var blocked: [Int] = []
        var gone: [Int] = []
        for slot in entries.indices where !entries[slot].isBlocked {
            switch LiveTable.write(&entries[slot], bytes, to: head) {
            case .complete: break
            case .blocked: blocked.append(slot)
            case .gone: gone.append(slot)
            }
        }
        return (blocked.map { owners[$0] }, gone.map { owners[$0] })
    }

    /// Writes to one subscriber until it has everything or blocks.
    static func write(
        _ entry: inout Entry,
        _ bytes: borrowing FeedBytes,
        to head: UInt64
    ) -> Delivery {
        while entry.position < head {
            let run = unsafe bytes.run(from: entry.position)
            switch unsafe SocketWriter.send(entry.descriptor, run) {
            case .written(let count):
                entry.position += UInt64(count)
                guard count == run.count else {
                    entry.isBlocked = true
                    return .blocked
                }
            case .blocked:
                entry.isBlocked = true
                return .blocked
            case .gone:
                return .gone
            }
        }
        return .complete
    }
}
