internal import BridgeCore

/// What all subscribers of one shape and framing get: each record is encoded once, for all of them.
@safe final class Feed {
    struct Key: Hashable {
        var shape: StreamShape
        var framing: BodyFraming
    }

    let key: Key
    let encoder: any StreamEncoder
    private(set) var bytes = FeedBytes()
    private(set) var index: FeedIndex
    var live = LiveTable()
    /// Those that read on their own: replaying, pulled, or with a limit.
    var others: [ObjectIdentifier: Subscriber] = [:]
    /// When something was last written to all.
    var lastWrite: Instant
    /// When the last record came, if one did.
    private(set) var lastRecord: Instant?
    /// Whether there is something to deliver.
    var isDirty = false
    /// The first record that came since the last delivery.
    private(set) var firstNews: UInt64?
    /// Up to where the last delivery went.
    private var deliveredHead: UInt64 = 0
    /// The event that subscribers were last found in the middle of, so that they share one copy.
    private var torn: (start: UInt64, bytes: HeldBytes)?
    /// The large record that was last read by a subscriber on its own, so that those who stall on it share it.
    private weak var large: HeldBytes?
    private var largeSequence: UInt64 = 0
    private let pages: MemoryTotal

    /// `pages` counts what subscribers get alone.
    init(_ key: Key, epoch: Epoch, after sequence: UInt64, now: Instant, pages: MemoryTotal) {
        self.key = key
        self.pages = pages
        encoder = key.shape.format.encoder(epoch: epoch, framing: key.framing)
        index = FeedIndex(after: sequence)
        lastWrite = now
    }

    var filter: StreamFilter { key.shape.filter }
    var format: StreamFormat { key.shape.format }
    var isEmpty: Bool { live.entries.isEmpty && others.isEmpty }
    var subscribers: [Subscriber] { live.owners + others.values }
    var subscriberCount: Int { live.entries.count + others.count }

    /// Adds a record that the filter accepts; `scratch` is used and may be anyone's.
    func append(_ record: Record, of connection: String, now: Instant, scratch: inout [UInt8], limit: Int) {
        lastRecord = now
        firstNews = firstNews ?? record.sequence
        scratch.removeAll(keepingCapacity: true)
        encoder.append(record, of: connection, to: &scratch)
        append(sequence: record.sequence, scratch, limit: limit)
    }

    /// What a subscriber gets alone of a large record.
    func page(_ record: Record, of connection: String) -> HeldBytes {
        if largeSequence == record.sequence, let large { return large }
        var bytes: [UInt8] = []
        encoder.append(record, of: connection, to: &bytes)
        let made = HeldBytes(bytes, in: pages)
        (large, largeSequence) = (made, record.sequence)
        return made
    }

    /// From here on a record comes alone, and is worth sharing.
    static let largeBytes = 64 * 1024

    /// Moves every subscriber's `Last-Event-ID` to `sequence`, beyond records that the filter kept from them.
    func append(_ position: [UInt8], at sequence: UInt64, limit: Int) {
        append(sequence: sequence, position, limit: limit)
    }

    private func append(sequence: UInt64, _ encoded: [UInt8], limit: Int) {
        let segment = max(limit / Feed.segmentsPerFeed, min(limit, Feed.smallestSegment))
        bytes.append(encoded, segmentBytes: segment)
        index.append(sequence: sequence, bytes: encoded.count)
        isDirty = true
    }

    private static let segmentsPerFeed = 16
    /// Smaller ones would only be more to take care of.
    private static let smallestSegment = 4 * 1024

    /// What it holds for subscribers that lag, or have not got the newest yet.
    var heldBytes: Int { bytes.allocatedBytes + index.memoryBytes }

    /// Writes to everyone who keeps up what has been appended.
    func deliver(now: Instant) -> (blocked: [Subscriber], gone: [Subscriber]) {
        isDirty = false
        firstNews = nil
        deliveredHead = bytes.head
        lastWrite = now
        return live.deliver(bytes)
    }

    /// Writes to one subscriber until it has everything or blocks.
    func write(to slot: Int) -> LiveTable.Delivery {
        LiveTable.write(&live[slot], bytes, to: bytes.head)
    }

    /// At most `count` bytes from `position`, for a pulled subscriber.
    func slice(from position: UInt64, count: Int) -> [UInt8] {
        bytes.copy(position..<min(bytes.head, position + UInt64(count)))
    }

    /// Forgets the oldest bytes beyond `limit`; `leaveBehind` must first detach whoever still needs them.
    ///
    /// Those that have not been delivered stay.
    func trim(to limit: Int, leaveBehind: (Subscriber) -> Void) {
        defer { torn = nil }
        while heldBytes > limit, bytes.segmentCount > 0, bytes.nextTail <= deliveredHead {
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
    func rest(at position: UInt64) -> (page: (bytes: HeldBytes, start: Int)?, sequence: UInt64) {
        guard let event = index.event(at: position), event.start < position else {
            return (nil, index.sequence(at: position) ?? index.headSequence)
        }
        let whole = if let torn, torn.start == event.start { torn.bytes } else { copy(event) }
        return ((whole, Int(position - event.start)), event.sequence)
    }

    private func copy(_ event: FeedIndex.Event) -> HeldBytes {
        let copied = HeldBytes(bytes.copy(event.start..<event.end), in: pages)
        torn = (event.start, copied)
        return copied
    }
}
