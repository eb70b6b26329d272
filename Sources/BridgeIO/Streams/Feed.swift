internal import BridgeCore

/// What all subscribers of one shape get: each record is encoded once, for all of them.
@safe final class Feed {
    let shape: StreamShape
    let encoder: ServerSentEvents
    private(set) var bytes = FeedBytes()
    private(set) var index: FeedIndex
    var live = LiveTable()
    /// Those that read on their own: replaying, pulled, or with a limit.
    var others: [ObjectIdentifier: Subscriber] = [:]
    /// When something was last written to all.
    var lastWrite: Instant
    /// Whether there is something to deliver.
    var isDirty = false
    private var scratch: [UInt8] = []

    /// What a feed may hold for subscribers that lag; those further behind are refilled from the log.
    private static let maxBytes = 4 << 20

    init(_ shape: StreamShape, epoch: Epoch, after sequence: UInt64, now: Instant) {
        self.shape = shape
        encoder = ServerSentEvents(epoch: epoch, framing: shape.framing)
        index = FeedIndex(after: sequence)
        lastWrite = now
    }

    var isEmpty: Bool { live.entries.isEmpty && others.isEmpty }
    var subscribers: [Subscriber] { live.owners + others.values }
    var subscriberCount: Int { live.entries.count + others.count }

    /// Adds a record that the shape's filter accepts.
    func append(_ record: Record, of connection: String) {
        append(sequence: record.sequence) { encoder.append(record, of: connection, to: &$0) }
    }

    /// Moves every subscriber's `Last-Event-ID` to `sequence`, beyond records that the filter kept from them.
    func appendPosition(_ sequence: UInt64) {
        append(sequence: sequence) { encoder.appendPosition(sequence, to: &$0) }
    }

    private func append(sequence: UInt64, _ encode: (inout [UInt8]) -> Void) {
        scratch.removeAll(keepingCapacity: scratch.capacity < Feed.maxBytes)
        encode(&scratch)
        bytes.append(scratch)
        index.append(sequence: sequence, bytes: scratch.count)
        isDirty = true
    }

    /// Writes to everyone who keeps up what has been appended.
    func deliver(now: Instant) -> (blocked: [Subscriber], gone: [Subscriber]) {
        isDirty = false
        lastWrite = now
        return live.deliver(bytes)
    }

    /// Writes to one subscriber until it has everything or blocks.
    func write(to slot: Int) -> SocketWriter.Outcome {
        LiveTable.write(&live[slot], bytes, to: bytes.head)
    }

    /// At most `count` bytes from `position`, for a pulled subscriber.
    func slice(from position: UInt64, count: Int) -> [UInt8] {
        bytes.copy(position..<min(bytes.head, position + UInt64(count)))
    }

    /// Forgets the oldest bytes beyond the bound; `leaveBehind` must first detach whoever still needs them.
    func trim(leaveBehind: (Subscriber) -> Void) {
        while bytes.allocatedBytes > Feed.maxBytes, bytes.canDropFirst {
            let tail = bytes.nextTail
            for subscriber in subscribers {
                if let position = subscriber.position(in: self), position < tail { leaveBehind(subscriber) }
            }
            bytes.dropFirst()
            index.evict(before: tail)
        }
    }

    /// Everything from `position` on.
    func rest(from position: UInt64) -> [UInt8] {
        bytes.copy(position..<bytes.head)
    }

    /// What a subscriber at `position` must still get to end on an event's edge, and what it has seen then.
    func rest(at position: UInt64) -> (bytes: [UInt8], sequence: UInt64) {
        guard let event = index.event(at: position), event.start < position else {
            return ([], index.sequence(at: position) ?? index.headSequence)
        }
        return (bytes.copy(position..<event.end), event.sequence)
    }
}
