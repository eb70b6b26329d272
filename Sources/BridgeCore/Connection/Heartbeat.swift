/// What the heartbeats of a connection say of its peer.
package struct Pulse: Equatable, Sendable {
    /// Consecutive heartbeats without an answer.
    package var misses = 0
    /// When the last pong came that answers one of our pings.
    package var lastAnswer: Instant?
    /// How long that pong took.
    package var roundTrip: Duration?
}

/// Decides when to ping and when silence means that the peer is gone.
///
/// Whatever arrives shows life. The time for an answer starts when the kernel took the ping, so that a large
/// upload in front of it is no miss as long as the upload moves. The owner keeps one timer for it, which it
/// restarts with `interval` after every `fellDue` and `pingWritten`.
struct Heartbeat: Sendable {
    /// What a heartbeat that fell due amounts to.
    struct Verdict: Equatable {
        /// The count of consecutive misses, if this was one.
        var missed: Int?
        /// That was the last one allowed.
        var isLost = false
        /// The ping to send now, if any.
        var ping: [UInt8]?
    }

    private enum Probe: Equatable {
        /// None was sent yet on this socket.
        case none
        /// Still behind other frames, or with them in a buffer that the kernel does not take.
        case unwritten([UInt8])
        case written
    }

    private(set) var pulse = Pulse()

    private let settings: HeartbeatSettings
    private var probe = Probe.none
    /// Pings that were written and not answered, oldest first.
    private var unanswered: [(payload: [UInt8], writtenAt: Instant)] = []
    private var nextNumber: UInt64
    private var due: Instant
    /// Something arrived since the clock was last started.
    private var heard = false
    /// The kernel took something since the clock was last started.
    private var progressed = false

    /// More unanswered pings than this are forgotten, oldest first: a pong for one of them has no use.
    private static let mostUnanswered = 8

    /// Starts with the random number that tells this socket's pings from any other's.
    init(_ settings: HeartbeatSettings, now: Instant, random: inout some RandomNumberGenerator) {
        self.settings = settings
        nextNumber = random.next()
        due = now
    }

    /// The wait before the first heartbeat; nil when there are to be none.
    mutating func begin(now: Instant, random: inout some RandomNumberGenerator) -> Duration? {
        guard settings.interval > .zero else { return nil }
        let wait: Duration
        switch settings.first {
        case .interval: wait = settings.interval
        case .random: wait = .nanoseconds(Int64.random(in: 0...settings.interval.nanoseconds, using: &random))
        }
        due = now + wait
        return wait
    }

    /// The timer fired: judges the last ping and makes the next one.
    mutating func fellDue(now: Instant) -> Verdict {
        let verdict = judge(isLate: now - due > lateness)
        restart(now)
        return verdict
    }

    private mutating func judge(isLate: Bool) -> Verdict {
        switch probe {
        case .none:
            return Verdict(ping: makePing())
        case .unwritten:
            // One ping in the queue is enough: another would only wait behind it.
            if isLate || heard || progressed { return Verdict() }
            return miss(ping: false)
        case .written:
            // After a suspension the answer may lie unread in the kernel, so lateness is no miss: ask again.
            if isLate || heard { return Verdict(ping: makePing()) }
            return miss(ping: true)
        }
    }

    private mutating func miss(ping: Bool) -> Verdict {
        pulse.misses += 1
        let isLost = pulse.misses >= settings.missLimit
        return Verdict(missed: pulse.misses, isLost: isLost, ping: ping && !isLost ? makePing() : nil)
    }

    /// A timer that fires this much after it was due tells of a suspended process, not of a silent peer.
    private var lateness: Duration {
        max(.milliseconds(100), min(.seconds(1), settings.interval / 2))
    }

    private mutating func restart(_ now: Instant) {
        due = now + settings.interval
        heard = false
        progressed = false
    }

    private mutating func makePing() -> [UInt8] {
        let number = nextNumber
        nextNumber &+= 1
        let payload = stride(from: 56, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: number >> UInt64($0))
        }
        probe = .unwritten(payload)
        return payload
    }

    /// The kernel took the ping: from now on the peer has one interval to show life.
    ///
    /// False if there was none to be written; then the timer stays as it is.
    mutating func pingWritten(now: Instant) -> Bool {
        guard case .unwritten(let payload) = probe else { return false }
        probe = .written
        unanswered.append((payload, now))
        if unanswered.count > Heartbeat.mostUnanswered { unanswered.removeFirst() }
        restart(now)
        return true
    }

    /// The kernel took something of what waits in front of the ping.
    mutating func writeProgressed() {
        progressed = true
    }

    /// The peer sent anything at all, be it a part of a frame.
    mutating func arrived() {
        heard = true
        pulse.misses = 0
    }

    /// The peer sent a pong, which `arrived` was told as well.
    ///
    /// One that answers none of our pings says nothing of the round trip; one that does answers the older ones
    /// too (RFC 6455 §5.5.3).
    mutating func answered(_ payload: [UInt8], now: Instant) {
        guard let index = unanswered.firstIndex(where: { $0.payload == payload }) else { return }
        pulse.lastAnswer = now
        pulse.roundTrip = now - unanswered[index].writtenAt
        unanswered.removeSubrange(...index)
    }
}
