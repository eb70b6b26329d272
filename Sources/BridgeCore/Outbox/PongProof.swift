/// Knows which messages a pong proves to have arrived: those that went out on the same socket before its ping.
struct PongProof: Sendable {
    private struct Ping {
        let payload: [UInt8]
        /// The number of the newest message in front of it.
        let mark: UInt64
        /// Sent for the sake of the proof alone.
        let isProbe: Bool
    }

    /// Unanswered pings, oldest first.
    private var pings: [Ping] = []
    private var probes: UInt64 = 0

    /// More unanswered pings than this are forgotten, oldest first: a later one proves as much.
    private static let mostUnanswered = 16

    /// Whether a ping is wanted for the proof of this message, the newest that went out.
    ///
    /// One probe at a time is enough: its answer tells when to send the next.
    func wantsProbe(for newest: UInt64) -> Bool {
        newest > (pings.last?.mark ?? 0) && !pings.contains(where: \.isProbe)
    }

    /// Makes a probe behind this message.
    ///
    /// Its payload is of another length than any other ping's, and different from that of earlier probes.
    mutating func makeProbe(behind newest: UInt64) -> [UInt8] {
        probes &+= 1
        let payload = [UInt8(ascii: "p")] + bytes(newest) + bytes(probes)
        sent(payload, behind: newest, isProbe: true)
        return payload
    }

    /// A ping of whatever kind goes out behind this message.
    mutating func sent(_ payload: [UInt8], behind newest: UInt64, isProbe: Bool = false) {
        pings.append(Ping(payload: payload, mark: max(newest, pings.last?.mark ?? 0), isProbe: isProbe))
        guard pings.count > PongProof.mostUnanswered else { return }
        // A forgotten probe would be awaited for ever otherwise.
        pings.remove(at: pings.firstIndex { !$0.isProbe } ?? 0)
    }

    /// The number up to which all messages have arrived, if this pong proves anything.
    ///
    /// It answers the older pings too (RFC 6455 §5.5.3).
    mutating func answered(_ payload: [UInt8]) -> UInt64? {
        guard let index = pings.firstIndex(where: { $0.payload == payload }) else { return nil }
        let mark = pings[index].mark
        pings.removeSubrange(...index)
        return mark
    }

    /// What was sent on a socket that is gone is not answered any more.
    mutating func socketLost() {
        pings = []
    }

    private func bytes(_ number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }
}
