package import WebSocketProtocol

/// Decides what an open connection sends next, and whether it may go yet: heartbeats before messages, probes for
/// the proof of what was sent, and all of it within the rate.
///
/// One serves a connection over all its sockets. Pongs and close frames do not pass through it.
package struct SendSchedule: Sendable {
    package enum Frame: Equatable, Sendable {
        /// The machine's ping.
        case ping([UInt8])
        /// A message in the place of such a ping.
        case heartbeat(Message)
        /// What a message that matched is answered with.
        case reply(Message)
        /// A ping whose pong confirms messages.
        case probe([UInt8])
        case message(Outbox.Departure)
    }

    private var limit: RateLimit?
    private var proof = PongProof()
    /// Frames of the machine that are to go next; it never has many.
    private var due = Queue<Frame>()

    /// Nil: as fast as the socket takes it.
    package init(rate: RateSettings?) {
        limit = rate.map(RateLimit.init)
    }

    /// Another rate, to which what was sent lately counts too.
    package mutating func change(rate: RateSettings?) {
        guard let rate else {
            limit = nil
            return
        }
        if limit == nil { limit = RateLimit(rate) } else { limit?.change(to: rate) }
    }

    /// A frame of the machine's is to go next.
    package mutating func fellDue(_ frame: Frame) {
        due.append(frame)
    }

    /// A heartbeat waits for the rate, which is no fault of the peer.
    package var holdsHeartbeat: Bool {
        !due.isEmpty && due.elements.contains { if case .reply = $0 { false } else { true } }
    }

    /// Whether frames that the kernel took have to be told.
    package var isRated: Bool { limit != nil }

    /// Hands out what goes next, in order; nil when nothing may go now.
    ///
    /// With `isFull` it is frames of the machine alone: the socket has enough, or may carry no messages.
    package mutating func next(from outbox: inout Outbox, isFull: Bool, now: Instant) -> Frame? {
        let room = limit?.room(now: now) ?? .max
        guard room > 0, let frame = frame(from: &outbox, isFull: isFull, isLast: room == 1) else {
            return nil
        }
        limit?.letGo()
        return frame
    }

    private mutating func frame(from outbox: inout Outbox, isFull: Bool, isLast: Bool) -> Frame? {
        if let frame = due.popFirst() {
            if case .ping(let payload) = frame, outbox.settings.confirm == .pong {
                proof.sent(payload, behind: outbox.newestOut ?? 0)
            }
            return frame
        }
        guard !isFull else { return nil }
        if let probe = probe(outbox, isLast: isLast) { return .probe(probe) }
        return outbox.next().map(Frame.message)
    }

    /// One ping proves all that went before, so it goes where a batch ends: when nothing follows for now, when the
    /// rate is used up, or when a good part of the outbox waits for it.
    private mutating func probe(_ outbox: Outbox, isLast: Bool) -> [UInt8]? {
        guard outbox.settings.confirm == .pong, let newest = outbox.newestOut,
            isLast || !outbox.hasNext || outbox.isMostlyOut, proof.wantsProbe(for: newest)
        else { return nil }
        return proof.makeProbe(behind: newest)
    }

    /// When to ask `next` again, if it is the rate alone that something waits for.
    package mutating func opening(for outbox: Outbox, now: Instant) -> Instant? {
        guard let opening = limit?.opening, limit?.room(now: now) == 0 else { return nil }
        let wantsProbe =
            outbox.settings.confirm == .pong && outbox.newestOut.map(proof.wantsProbe) ?? false
        return !due.isEmpty || outbox.hasNext || wantsProbe ? opening : nil
    }

    /// The kernel took the oldest frame that was handed out.
    package mutating func written(now: Instant) {
        limit?.written(now: now)
    }

    /// The number up to which all messages have arrived, if this pong proves anything.
    package mutating func answered(_ payload: [UInt8]) -> UInt64? {
        proof.answered(payload)
    }

    /// The connection is about to close, or gone: the machine's frames have no use any more.
    package mutating func notReady() {
        due = Queue()
    }

    package mutating func socketLost(now: Instant) {
        notReady()
        proof.socketLost()
        limit?.socketLost(now: now)
    }
}
