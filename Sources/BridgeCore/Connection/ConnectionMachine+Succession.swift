internal import WebSocketProtocol

/// How the new socket of a rotation takes the place of the old one, and what becomes of that.
extension ConnectionMachine {
    /// A socket whose place another has taken: it was sent a close frame, and may say what it still has to say.
    struct Leaving: Sendable {
        let socket: SocketID
        let deadline: TimerID
        /// Nil once the peer's close frame came.
        var pongs: PongBacklog?
    }

    /// Nothing is on the way on the old one.
    mutating func drained(
        _ socket: SocketID,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        guard case .ready(let session, let url, let deadline) = rotation, case .open(let old) = state,
            old.socket == socket
        else { return }
        step.add(.cancelTimer(deadline))
        part(from: old, for: session, at: url, &step, random: &random)
    }

    /// Nothing is on the way on the old one but answers to requests, which are awaited as long as there is time.
    mutating func flushed(_ socket: SocketID) {
        if case .ready = rotation, case .open(let old) = state, old.socket == socket {
            flushedSocket = socket
        }
    }

    /// The new one takes over, and the old one is closed.
    mutating func part(
        from old: Session,
        for session: Session,
        at url: WebSocketURL?,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        let socket = old.socket
        dropLeaving(&step)
        step.add(.sendClose(socket, code: 1000, reason: ""))
        takeOver(session, at: url, from: old, &step, random: &random)
        leaving = Leaving(
            socket: socket,
            deadline: startTimer(after: settings.closeTimeout, &step),
            pongs: old.pongs
        )
    }

    mutating func takeOver(
        _ session: Session,
        at url: WebSocketURL?,
        from old: Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        var session = session
        cancelTimers(of: old, &step)
        rotation = nil
        lastRotation = step.now
        elsewhere = url
        step.add(.record(.rotated))
        step.add(.adopt(session.socket))
        hasLasted = false
        beginService(of: &session, &step, random: &random)
        session.idleSince = old.idleSince
        state = .open(session)
        watchIdling(&step)
    }

    /// The open socket, of which nothing is left, ended before the new one took its place: that is the connection now.
    ///
    /// False if there is none; then what waits to be dialled is still there.
    mutating func promote(
        after old: Session,
        _ outcome: Outcome,
        by closer: Closer,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) -> Bool {
        guard let rotation, let socket = rotation.socket else { return false }
        if case .ready(let session, let url, let deadline) = rotation {
            step.add(.cancelTimer(deadline))
            takeOver(session, at: url, from: old, &step, random: &random)
            return true
        }
        cancelTimers(of: old, &step)
        step.add(.notReady)
        recordClosed(outcome, by: closer, &step)
        step.add(.record(.connecting))
        self.rotation = nil
        lastRotation = step.now
        hasLasted = false
        step.add(.adopt(socket))
        switch rotation {
        case .connecting(let attempt, let url):
            elsewhere = url
            state = .connecting(attempt)
        case .opening(let session, let url):
            elsewhere = url
            step.add(.record(.open(subprotocol: session.subprotocol, reconnected: true)))
            state = .open(session)
        case .ready, .waiting:
            break
        }
        return true
    }

    // MARK: The old one

    mutating func happenedLast(_ event: SocketEvent, _ step: inout Step) {
        guard var leaving else { return }
        switch event {
        case .message(let message):
            if leaving.pongs != nil { receivedLate(message, on: leaving.socket, &step) }
        case .ping(let payload):
            if let answer = leaving.pongs?.pinged(payload) { step.add(.sendPong(leaving.socket, answer)) }
            self.leaving = leaving
        case .closeFrame:
            leaving.pongs = nil
            self.leaving = leaving
        case .violation:
            dropLeaving(&step)
        case .ended:
            step.add(.cancelTimer(leaving.deadline))
            self.leaving = nil
        case .opened, .failed, .pong, .written:
            break
        }
    }

    mutating func frameWrittenLast(_ frame: OwnFrame, _ step: inout Step) {
        guard frame == .pong, let payload = leaving?.pongs?.pongWritten(), let socket = leaving?.socket else {
            return
        }
        step.add(.sendPong(socket, payload))
    }

    mutating func leavingTimedOut(_ step: inout Step) {
        guard let leaving else { return }
        step.add(.drop(leaving.socket))
        self.leaving = nil
    }

    mutating func dropLeaving(_ step: inout Step) {
        guard let leaving else { return }
        step.add(.cancelTimer(leaving.deadline))
        leavingTimedOut(&step)
    }
}
