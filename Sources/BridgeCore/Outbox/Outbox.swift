package import WebSocketProtocol

/// The messages that a connection is to send: in order, bounded, and kept over drops of the connection.
///
/// A message is *queued* until `next` hands it out, then *in flight* until `written` says that the kernel took
/// it, which makes it sent. With `confirm: pong` it is *unproven* from then on until `confirmed` says that the peer
/// has it, which makes it sent. What is not sent when the connection drops goes back in front, in its order.
///
/// Messages are numbered in the order in which they came, and go out in that order. Where they are to be stored first,
/// those behind `durableThrough` stay until they are.
package struct Outbox: Sendable {
    /// What the connection does with messages at the moment.
    package enum Uplink: Equatable, Sendable {
        /// They flow.
        case ready
        /// They wait for the next connection.
        case away
        /// None is to come unless a user asks for it.
        case shut
        /// They never flow.
        case receiveOnly
    }

    /// Messages that the outbox took.
    package struct Receipt: Equatable, Sendable {
        /// In order.
        package var ids: MessageIDs
        /// Those that were dropped to make room for it, oldest first.
        package var dropped: [MessageID] = []
    }

    /// A message that was handed out to be written, or that was sent.
    package struct Departure: Equatable, Sendable {
        package var id: MessageID
        package var message: Message
        /// It is a request.
        package var isTransient = false
    }

    struct Entry: Sendable {
        let number: UInt64
        var message: Message
        let queuedAt: Instant
        /// A request: it goes out on the connection that there is, or not at all, and is never stored.
        var isTransient = false
        /// It was handed out.
        var wasOut = false
        /// Connections that the peer closed as "too big" (1009) while this may have been the reason.
        var refusals = 0

        var size: Int { message.bytes.count }
    }

    /// The first 1009 may be for a message that was sent before; the second can only be for this one.
    private static let refusalLimit = 2
    /// New ones hold for what comes; what is over new bounds stays.
    package var settings: OutboxSettings
    private let name: OutboxID
    var queued = Queue<Entry>()
    var inFlight = Queue<Entry>()
    /// Older than all in flight, as those are older than all that are queued.
    private(set) var unproven = Queue<Entry>()
    var lastNumber: UInt64 = 0
    /// What has a greater number is not safe on disk yet, and is not handed out.
    package internal(set) var durableThrough = UInt64.max
    var queuedBytes = 0
    /// Of what is in flight or unproven.
    var outBytes = 0
    /// Behind so many a proof is asked for, where connections dropped before there was one; nil: as the bounds say.
    private var patience: Int?
    /// Something was proven since the connection opened.
    private var hasProof = false
    /// When the message came that `written` was last told of; nil if that was none of those in flight.
    package private(set) var writtenSince: Instant?

    /// Starts empty; no other one may ever have had its name.
    package init(_ settings: OutboxSettings, as name: OutboxID) {
        self.settings = settings
        self.name = name
    }

    private var outCount: Int { inFlight.count + unproven.count }
    var messages: Int { queued.count + outCount }
    var bytes: Int { queuedBytes + outBytes }
    /// What it takes of the process' memory.
    package var memoryBytes: Int { Outbox.memoryBytes(messages, bytes) }
    package var isEmpty: Bool { queued.isEmpty && inFlight.isEmpty && unproven.isEmpty }

    /// Takes messages in behind all others, in order: all or none.
    ///
    /// With `mayWait` false they are refused unless the connection is ready. What does not fit into `room` is as
    /// what does not fit into the settings. Last, before anything changes, `store` is asked whether they can be stored
    /// with these numbers; then nothing is dropped for them before they are (`makeRoom`).
    package mutating func append(
        _ messages: [Message],
        uplink: Uplink,
        mayWait: Bool = true,
        isTransient: Bool = false,
        room: OutboxRoom = .unlimited,
        now: Instant,
        store: ((Range<UInt64>) throws(OutboxError) -> Void)? = nil
    ) throws(OutboxError) -> Receipt {
        switch uplink {
        case .ready: break
        case .away: if !mayWait || settings.whenOffline == .reject { throw .offline }
        case .shut: throw .closed
        case .receiveOnly: throw .receiveOnly
        }
        let size = messages.reduce(0) { $0 + $1.bytes.count }
        guard size <= settings.maxBytes else { throw .tooLarge(limit: settings.maxBytes) }
        guard messages.count <= settings.maxMessages else { throw .tooMany(limit: settings.maxMessages) }
        guard Outbox.memoryBytes(messages.count, size) <= room.total else {
            throw .tooLarge(limit: max(0, room.total - Outbox.memoryBytes(messages.count, 0)))
        }
        let bounds = bounds(beside: messages.count, size: size, within: room)
        if !messages.isEmpty { try checkRoom(within: bounds) }
        let first = lastNumber + 1
        try store?(first..<first + UInt64(messages.count))
        let dropped = messages.isEmpty || store != nil ? [] : makeRoom(within: bounds)
        for message in messages {
            lastNumber += 1
            queued.append(
                Entry(number: lastNumber, message: message, queuedAt: now, isTransient: isTransient)
            )
        }
        queuedBytes += size
        return Receipt(ids: MessageIDs(outbox: name, numbers: first..<lastNumber + 1), dropped: dropped)
    }

    /// Looked at first, so that nothing is dropped in vain: what may have reached the upstream cannot be.
    private func checkRoom(within bounds: Bounds) throws(OutboxError) {
        guard !bounds.hold(messages, bytes) else { return }
        guard settings.overflow == .dropOldest, bounds.hold(outCount, outBytes) else {
            throw .full(exceeded(of: bounds))
        }
    }

    /// Drops the oldest that wait, but for those from `limit` on.
    mutating func makeRoom(within bounds: Bounds, before limit: UInt64 = .max) -> [MessageID] {
        var dropped: [MessageID] = []
        while !bounds.hold(messages, bytes), let oldest = queued.first, oldest.number < limit {
            _ = popQueued()
            dropped.append(id(oldest.number))
        }
        return dropped
    }

    private mutating func popQueued() -> Entry? {
        guard let entry = queued.popFirst() else { return nil }
        queuedBytes -= entry.size
        return entry
    }

    func id(_ number: UInt64) -> MessageID {
        MessageID(outbox: name, number: number)
    }
}

// MARK: - On the way

extension Outbox {
    /// `next` has one to hand out.
    var hasNext: Bool { !queued.isEmpty && mayGo && isDurable }

    /// The first one is safe on disk, if it has to be.
    private var isDurable: Bool {
        durableThrough == .max || queued.first.map { $0.isTransient || $0.number <= durableThrough } ?? false
    }

    /// A message that may be too big for the peer goes alone, so that the next refusal is its own.
    ///
    /// Without proofs it need not: only the first one in flight can have been refused.
    private var mayGo: Bool {
        guard settings.confirm == .pong, let newest = inFlight.last ?? unproven.last else { return true }
        return newest.refusals == 0 && queued.first?.refusals == 0
    }

    /// The number of the newest message that went out and is not sent yet.
    package var newestOut: UInt64? { (inFlight.last ?? unproven.last)?.number }

    /// So much went out without a proof that new messages may soon find no room for it.
    var isMostlyOut: Bool {
        outCount >= min(patience ?? .max, max(1, settings.maxMessages / 4))
            || outBytes >= max(1, settings.maxBytes / 4)
    }

    /// Hands out the next message to write, which must go out before any that is handed out later.
    ///
    /// Those that have expired are to be taken out before, with `expire`.
    package mutating func next() -> Departure? {
        guard hasNext, var entry = popQueued() else { return nil }
        entry.wasOut = true
        inFlight.append(entry)
        outBytes += entry.size
        return Departure(id: id(entry.number), message: entry.message, isTransient: entry.isTransient)
    }

    /// The kernel took the message that was handed out first of those in flight.
    ///
    /// Returns it if it is sent thereby; nil if that is still to be proven, or if another one, or none, is to be
    /// written next.
    package mutating func written(_ id: MessageID) -> Message? {
        writtenSince = nil
        guard let entry = inFlight.first, self.id(entry.number) == id else { return nil }
        inFlight.popFirst()
        writtenSince = entry.queuedAt
        guard settings.confirm == .written else {
            unproven.append(entry)
            return nil
        }
        outBytes -= entry.size
        return entry.message
    }

    /// The peer has all messages up to the one with this number: they are sent.
    package mutating func confirmed(through number: UInt64) -> [Departure] {
        var sent: [Departure] = []
        // The peer's word may come before the kernel's.
        while let entry = unproven.first ?? inFlight.first, entry.number <= number {
            if unproven.isEmpty { inFlight.popFirst() } else { unproven.popFirst() }
            outBytes -= entry.size
            sent.append(Departure(id: id(entry.number), message: entry.message))
        }
        if !sent.isEmpty {
            hasProof = true
            patience = patience.flatMap { $0 < settings.maxMessages / 8 ? $0 * 2 : nil }
        }
        return sent
    }

    /// What went out and is not sent goes back in front, in order.
    ///
    /// `closeCode` is that of the peer's close frame. A message that the peer keeps refusing as too big (1009)
    /// is dropped instead; its id is returned.
    package mutating func connectionLost(closeCode: UInt16?) -> MessageID? {
        // Of those in flight only the first can have reached the peer, at least in part.
        let suspects = closeCode == 1009 ? unproven.count + min(inFlight.count, 1) : 0
        var refused: MessageID?
        // One that takes a few and then drops the connection, each time, would get the same ones for ever.
        if settings.confirm == .pong, outCount > 0, !hasProof {
            patience = max(1, min(patience ?? outCount, outCount) / 2)
        }
        hasProof = false
        while var entry = inFlight.popLast() ?? unproven.popLast() {
            if outCount < suspects { entry.refusals += 1 }
            if suspects == 1, outCount == 0, entry.refusals >= Outbox.refusalLimit {
                refused = id(entry.number)
                continue
            }
            queued.prepend(entry)
            queuedBytes += entry.size
        }
        outBytes = 0
        return refused
    }
}

// MARK: - Age

extension Outbox {
    /// Takes out the messages that have waited for longer than `maxAge`, oldest first.
    package mutating func expire(now: Instant) -> [MessageID] {
        var expired: [MessageID] = []
        while let deadline = nextExpiry, deadline <= now, let entry = popQueued() {
            expired.append(id(entry.number))
        }
        return expired
    }

    /// When the next message expires, unless it goes out before.
    package var nextExpiry: Instant? {
        // A request has a time of its own.
        guard let age = settings.maxAge, let oldest = queued.first, !oldest.isTransient else { return nil }
        return oldest.queuedAt + age
    }
}
