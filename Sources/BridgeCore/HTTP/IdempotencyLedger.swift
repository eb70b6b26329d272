/// Which keys were used for which messages, and what was answered, so that a repeat sends nothing.
///
/// It holds keys for a day, and bounds their number; the oldest go first. A request that was refused leaves no
/// trace here, so its repeat is tried anew.
package struct IdempotencyLedger: Sendable {
    /// What a key means when it comes.
    package enum Finding: Equatable, Sendable {
        /// It did not come before, or so long ago that it is forgotten.
        case new
        /// Its messages are accepted and the first answer is not given yet.
        case underWay
        /// The first answer told of these messages in these states.
        case answered(Consignment)
        /// It came with another body.
        case mismatch
    }

    private struct Entry: Sendable {
        let fingerprint: [UInt8]
        let firstUse: Instant
        var answer: Consignment?

        var size: Int { answer?.size ?? 0 }
    }

    package static let lifetime = Duration.seconds(24 * 3600)
    package static let maxKeys = 10_000
    /// What all answers may take together: runs of messages that were sent in the same millisecond, 24 bytes each.
    ///
    /// Far more than keys usually need. It is there for bodies of many lines that are written slowly.
    package static let maxSize = 1 << 20

    private let maxKeys: Int
    private let maxSize: Int
    private var entries: [String: Entry] = [:]
    /// Oldest first use first.
    private var order = Queue<String>()
    private var size = 0

    package init(maxKeys: Int = IdempotencyLedger.maxKeys, maxSize: Int = IdempotencyLedger.maxSize) {
        self.maxKeys = maxKeys
        self.maxSize = maxSize
    }

    /// Looks a key up; `fingerprint` is the same for equal messages alone.
    package mutating func find(_ key: String, fingerprint: [UInt8], now: Instant) -> Finding {
        forget(now: now)
        guard let entry = entries[key] else { return .new }
        guard entry.fingerprint == fingerprint else { return .mismatch }
        return entry.answer.map(Finding.answered) ?? .underWay
    }

    /// The messages of a key that is new were accepted.
    package mutating func accepted(_ key: String, fingerprint: [UInt8], now: Instant) {
        guard entries[key] == nil else { return }
        entries[key] = Entry(fingerprint: fingerprint, firstUse: now)
        order.append(key)
        makeRoom()
    }

    /// The first answer of a key is given; without effect if the key is forgotten.
    package mutating func answered(_ key: String, with answer: Consignment) {
        guard var entry = entries[key], entry.answer == nil else { return }
        entry.answer = answer
        entries[key] = entry
        size += entry.size
        makeRoom()
    }

    /// The messages of a key were not accepted after all: its repeat is tried anew.
    package mutating func withdrawn(_ key: String) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        size -= entry.size
        _ = order.removeFirst { $0 == key }
    }

    private mutating func makeRoom() {
        while order.count > maxKeys || size > maxSize, popOldest() {}
    }

    private mutating func forget(now: Instant) {
        while let oldest = order.first, let entry = entries[oldest],
            now - entry.firstUse >= IdempotencyLedger.lifetime
        {
            guard popOldest() else { return }
        }
    }

    private mutating func popOldest() -> Bool {
        guard let key = order.popFirst(), let entry = entries.removeValue(forKey: key) else { return false }
        size -= entry.size
        return true
    }
}
