/// Which keys were used for which messages, and what was answered, so that a repeat sends nothing.
///
/// It holds keys for a day, and bounds their number and the bytes of their answers: the oldest go first. A request
/// that was refused leaves no trace here, so its repeat is tried anew.
package struct IdempotencyLedger: Sendable {
    /// What a key means when it comes.
    package enum Finding: Equatable, Sendable {
        /// It did not come before, or so long ago that it is forgotten.
        case new
        /// Its messages are accepted and the first answer is not given yet.
        case underWay
        case answered(HTTPResponse)
        /// It came with another body.
        case mismatch
    }

    private struct Entry: Sendable {
        let fingerprint: [UInt8]
        let firstUse: Instant
        var answer: HTTPResponse?

        /// In bytes, roughly.
        var size: Int { fingerprint.count + (answer?.body.count ?? 0) }
    }

    package static let lifetime = Duration.seconds(24 * 3600)
    package static let maxKeys = 10_000
    package static let maxBytes = 16 << 20

    private let maxKeys: Int
    private let maxBytes: Int
    private var entries: [String: Entry] = [:]
    /// Oldest first use first.
    private var order = Queue<String>()
    private var bytes = 0

    package init(maxKeys: Int = IdempotencyLedger.maxKeys, maxBytes: Int = IdempotencyLedger.maxBytes) {
        self.maxKeys = maxKeys
        self.maxBytes = maxBytes
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
        let entry = Entry(fingerprint: fingerprint, firstUse: now)
        entries[key] = entry
        order.append(key)
        bytes += entry.size
        makeRoom()
    }

    /// The first answer of a key is known; without effect if the key is forgotten.
    package mutating func answered(_ key: String, with answer: HTTPResponse) {
        guard var entry = entries[key], entry.answer == nil else { return }
        bytes -= entry.size
        entry.answer = answer
        bytes += entry.size
        entries[key] = entry
        makeRoom()
    }

    private mutating func makeRoom() {
        while order.count > maxKeys || bytes > maxBytes, popOldest() {}
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
        bytes -= entry.size
        return true
    }
}
