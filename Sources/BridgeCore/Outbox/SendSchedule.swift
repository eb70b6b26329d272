package import WebSocketProtocol

/// Decides what an open connection sends next, and whether it may go yet: heartbeats before messages, probes for
/// the proof of what was sent, and all of it within the rate.
///
/// One serves a connection over all its sockets. Pongs and close frames do not pass through it.
package struct SendSchedule: Sendable {
    package enum Frame: Equatable, Sendable {
        /// The machine's ping.
        case ping(SocketID, [UInt8])
        /// A message of the machine's.
        case own(SocketID, Message, ConnectionMachine.OwnFrame)
        /// A ping whose pong confirms messages.
        case probe([UInt8])
        case message(Outbox.Departure)

        /// The socket that it is for; nil: the one that carries the messages.
        package var socket: SocketID? {
            switch self {
            case .ping(let socket, _), .own(let socket, _, _): socket
            case .probe, .message: nil
            }
        }

        fileprivate var isHeartbeat: Bool {
            switch self {
            case .ping: true
            case .own(_, _, let frame): frame == .heartbeat
            case .probe, .message: false
            }
        }
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
        !due.isEmpty && due.elements.contains(where: \.isHeartbeat)
    }

    /// Whether frames that the kernel took have to be told.
    package var isRated: Bool { limit != nil }

    /// Hands out what goes next, in order; nil when nothing may go now.
    ///
    /// Whoever hands it on to a socket says so with `handed`. With `isFull` it is frames of the machine alone: the socket has enough, or may carry no messages. With `isEnding`
    /// no message follows those that went out on this socket, which are to be proven.
    package mutating func next(
        from outbox: inout Outbox,
        isFull: Bool,
        isEnding: Bool = false,
        now: Instant
    ) -> Frame? {
        let room = limit?.room(now: now) ?? .max
        guard room > 0 else { return nil }
        let isLast = room == 1 || isEnding
        return frame(from: &outbox, isFull: isFull, isEnding: isEnding, isLast: isLast)
    }

    /// A socket took what was handed out last: from now on it counts for the rate.
    package mutating func handed(to socket: SocketID) {
        limit?.handed(to: socket)
    }

    /// There is something of the machine's to send.
    package var hasDue: Bool { !due.isEmpty }

    private mutating func frame(
        from outbox: inout Outbox,
        isFull: Bool,
        isEnding: Bool,
        isLast: Bool
    ) -> Frame? {
        if let frame = due.popFirst() {
            if case .ping(_, let payload) = frame, outbox.settings.confirm == .pong {
                proof.sent(payload, behind: outbox.newestOut ?? 0)
            }
            return frame
        }
        guard !isFull else { return nil }
        if let probe = probe(outbox, isLast: isLast) { return .probe(probe) }
        return isEnding ? nil : outbox.next().map(Frame.message)
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

    /// The kernel took the oldest frame that this socket was handed.
    package mutating func written(on socket: SocketID, now: Instant) {
        limit?.written(on: socket, now: now)
    }

    /// The number up to which all messages have arrived, if this pong proves anything.
    package mutating func answered(_ payload: [UInt8]) -> UInt64? {
        proof.answered(payload)
    }

    /// Frames of the machine's for this socket wait.
    package func waits(for socket: SocketID) -> Bool {
        !due.isEmpty && due.elements.contains { $0.socket == socket }
    }

    /// A socket is about to close: the machine's frames for it have no use any more.
    package mutating func forget(_ socket: SocketID) {
        guard !due.isEmpty else { return }
        var rest = Queue<Frame>()
        for frame in due.elements where frame.socket != socket { rest.append(frame) }
        due = rest
    }

    /// A socket is gone, and all that it was handed.
    package mutating func lost(_ socket: SocketID, now: Instant) {
        forget(socket)
        limit?.lost(socket, now: now)
    }

    /// The socket that carried the messages is gone, or another takes its place: nothing proves what was sent on it.
    package mutating func carrierLost() {
        proof.socketLost()
    }
}
