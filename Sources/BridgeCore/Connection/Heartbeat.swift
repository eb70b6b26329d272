/// What the heartbeats of a connection say of its peer.
package struct Pulse: Equatable, Sendable {
    /// Consecutive heartbeats without an answer.
    package var misses = 0
    /// When the last answer came.
    package var lastAnswer: Instant?
    /// How long that took since the heartbeat was written.
    package var roundTrip: Duration?
    /// When that was known.
    package var roundTripAt: Instant?
}

/// What is known of bytes that came in and are no message yet.
package enum Intake: Equatable, Sendable {
    /// All that came was handled, up to the end of a message.
    case betweenMessages
    /// The beginning of a message came, and not its end.
    case insideMessage
    /// Reading is paused, or more came than was handled: an answer may lie there.
    case unread
}

/// Decides when to ask and when silence means that the peer is gone.
///
/// The time for an answer starts when the kernel took the heartbeat, so that a large upload in front of it is no
/// miss as long as the upload moves, nor is a large message that comes in front of the answer. The owner keeps one
/// timer for it, which it restarts with `interval` after every `fellDue`, `written` and `woke`.
struct Heartbeat: Sendable {
    /// What a heartbeat that fell due amounts to.
    struct Verdict: Equatable {
        /// The count of consecutive misses, if this was one.
        var missed: Int?
        /// That was the last one allowed.
        var isLost = false
        /// One is to be sent now.
        var isDue = false
    }

    private enum Probe: Equatable {
        /// None was sent yet on this socket.
        case none
        /// Still behind other frames, or with them in a buffer that the kernel does not take.
        case unwritten(ping: [UInt8]?)
        case written
    }

    private(set) var pulse = Pulse()

    private var terms: Terms
    private var probe = Probe.none
    /// Heartbeats that were written and not answered, oldest first; those that are messages have no payload here.
    private var unanswered: [(ping: [UInt8]?, writtenAt: Instant)] = []
    private var nextNumber: UInt64
    private var due: Instant
    private var lastMessage: Instant
    private var since = Since()

    /// What of the settings matters here: it is copied with every message, so nothing in it is counted.
    private struct Terms {
        var interval: Duration
        let missLimit: Int
        let first: HeartbeatSettings.First
        let alive: HeartbeatSettings.Life
        let isListening: Bool
        let isAnsweredByPong: Bool

        init(_ settings: HeartbeatSettings) {
            interval = settings.interval
            missLimit = settings.missLimit
            first = settings.first
            alive = settings.alive
            isListening = settings.send == .none
            isAnsweredByPong = settings.isAnsweredByPong
        }
    }

    /// What happened since the clock was last started.
    private struct Since {
        /// Anything arrived.
        var heard = false
        /// Something arrived that shows life.
        var showedLife = false
        /// The kernel took something.
        var progressed = false
        /// What was last known of what came in.
        var intake = Intake.betweenMessages
    }

    /// More unanswered heartbeats than this are forgotten, oldest first: an answer to one of them has no use.
    private static let mostUnanswered = 8

    /// Starts with the random number that tells this socket's pings from any other's.
    init(_ settings: HeartbeatSettings, now: Instant, random: inout some RandomNumberGenerator) {
        terms = Terms(settings)
        nextNumber = random.next()
        due = now
        lastMessage = now
    }

    /// From one heartbeat to the next, which the upstream may have told; zero: none are sent.
    var interval: Duration {
        get { terms.interval }
        set { terms.interval = newValue }
    }

    /// The wait before the first heartbeat; nil when there are to be none.
    mutating func begin(now: Instant, random: inout some RandomNumberGenerator) -> Duration? {
        guard terms.interval > .zero else { return nil }
        let wait: Duration
        switch terms.first {
        case .interval: wait = terms.interval
        case .random: wait = .nanoseconds(Int64.random(in: 0...terms.interval.nanoseconds, using: &random))
        }
        due = now + wait
        return wait
    }

    // MARK: Judging

    /// The timer fired: judges the last heartbeat.
    mutating func fellDue(now: Instant) -> Verdict {
        let verdict = judge(now)
        restart(now)
        return verdict
    }

    private mutating func judge(_ now: Instant) -> Verdict {
        // After a suspension the answer may still be on its way, so lateness is no miss: ask again.
        let isExcused = now - due > lateness || since.showedLife
        switch probe {
        case .none where !terms.isListening:
            return Verdict(isDue: true)
        case .none:
            return isExcused || mayFollow(now) ? Verdict() : miss(isDue: false)
        case .unwritten:
            // One in the queue is enough: another would only wait behind it.
            return isExcused || since.heard || since.progressed || mayFollow(now)
                ? Verdict() : miss(isDue: false)
        case .written:
            if isExcused { return Verdict(isDue: true) }
            return mayFollow(now) ? Verdict() : miss(isDue: true)
        }
    }

    /// The answer may stand behind what has come in.
    ///
    /// A message in front of it has then been on its way for a while; a peer that keeps sending small ones could
    /// have answered between them.
    private func mayFollow(_ now: Instant) -> Bool {
        switch since.intake {
        case .betweenMessages: false
        case .insideMessage: since.heard && now - lastMessage >= terms.interval / 2
        case .unread: true
        }
    }

    private mutating func miss(isDue: Bool) -> Verdict {
        pulse.misses += 1
        let isLost = pulse.misses >= terms.missLimit
        return Verdict(missed: pulse.misses, isLost: isLost, isDue: isDue && !isLost)
    }

    /// A timer that fires this much after it was due tells of a suspended process, not of a silent peer.
    private var lateness: Duration {
        max(.milliseconds(100), min(.seconds(1), terms.interval / 2))
    }

    private mutating func restart(_ now: Instant) {
        due = now + terms.interval
        since = Since()
    }

    // MARK: Sending

    /// Makes the payload of a ping, which is to be sent now.
    mutating func ping() -> [UInt8] {
        let number = nextNumber
        nextNumber &+= 1
        let payload = stride(from: 56, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: number >> UInt64($0))
        }
        probe = .unwritten(ping: payload)
        return payload
    }

    /// A heartbeat that is a message is to be sent now.
    mutating func messageSent() {
        probe = .unwritten(ping: nil)
    }

    /// There was nothing to send, so there is nothing to answer.
    mutating func skipped() {
        probe = .none
    }

    /// The kernel took the heartbeat: from now on the peer has one interval to show life.
    ///
    /// False if there was none to be written; then the timer stays as it is.
    mutating func written(now: Instant) -> Bool {
        guard case .unwritten(let payload) = probe else { return false }
        probe = .written
        unanswered.append((payload, now))
        if unanswered.count > Heartbeat.mostUnanswered { unanswered.removeFirst() }
        restart(now)
        return true
    }

    /// The kernel took something of what waits in front of the heartbeat.
    mutating func writeProgressed() {
        since.progressed = true
    }

    /// The process or the machine was asleep: nothing is judged; whether to ask the peer now.
    mutating func woke(now: Instant) -> Bool {
        restart(now)
        switch probe {
        case .unwritten: return false
        case .none, .written: return !terms.isListening
        }
    }

    // MARK: What arrives

    /// The peer sent anything at all, be it a part of a frame.
    mutating func arrived() {
        since.heard = true
        if terms.alive == .any { showLife() }
    }

    /// What came in and is no message yet; `hasGrown` tells whether anything came.
    mutating func read(_ intake: Intake, hasGrown: Bool) {
        if hasGrown { arrived() }
        since.intake = intake
    }

    /// A whole message came, which `arrived` was told as well.
    mutating func messageArrived(now: Instant) {
        lastMessage = now
        if terms.alive == .message { showLife() }
    }

    /// A pong came, which `arrived` was told as well.
    ///
    /// One that answers none of our pings says nothing of the round trip; one that does answers the older ones
    /// too (RFC 6455 §5.5.3).
    mutating func ponged(_ payload: [UInt8], now: Instant) {
        guard terms.isAnsweredByPong, let index = unanswered.firstIndex(where: { $0.ping == payload })
        else {
            return
        }
        answered(since: unanswered[index].writtenAt, now)
        unanswered.removeSubrange(...index)
    }

    /// A message came that is the answer.
    ///
    /// It does not say to what: to the oldest heartbeat, then, and what else waits is answered with it.
    mutating func answered(now: Instant) {
        answered(since: unanswered.first?.writtenAt, now)
        unanswered.removeAll()
    }

    private mutating func answered(since written: Instant?, _ now: Instant) {
        pulse.lastAnswer = now
        if let written {
            pulse.roundTrip = now - written
            pulse.roundTripAt = now
        }
        showLife()
    }

    private mutating func showLife() {
        since.showedLife = true
        pulse.misses = 0
    }
}
