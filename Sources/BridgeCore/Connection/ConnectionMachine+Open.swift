internal import WebSocketProtocol

extension ConnectionMachine {
    mutating func open(
        _ socket: SocketID,
        subprotocol: String?,
        compression: Bool,
        isResumption: Bool = false,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        step.add(.record(.open(subprotocol: subprotocol, reconnected: hasOpened)))
        hasOpened = true
        hasLasted = false
        var session = Session(
            socket: socket,
            subprotocol: subprotocol,
            compression: compression,
            heartbeat: Heartbeat(settings.heartbeat, now: step.now, random: &random)
        )
        session.script = settings.onOpen.isEmpty ? nil : ScriptRun(isResumption: isResumption)
        state = .open(session)
        proceed(session, &step, random: &random)
    }

    /// All that comes before the first message has been said.
    mutating func becomeReady(
        _ session: Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        var session = session
        step.add(.record(.ready))
        attempt = 0
        beginService(of: &session, &step, random: &random)
        isAskedFor = false
        session.idleSince = isWanted ? nil : step.now
        state = .open(session)
        watchIdling(&step)
        step.add(.ready)
    }

    /// What an open connection does from when it is ready on.
    mutating func beginService(
        of session: inout Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        // Not before then: a server that accepts and closes at once must meet growing delays.
        session.stableTimer = startTimer(after: settings.reconnect.resetAfter, &step)
        if let wait = session.heartbeat.begin(now: step.now, random: &random) {
            session.heartbeatTimer = startTimer(after: wait, &step)
        }
    }

    mutating func happened(
        _ event: SocketEvent,
        in session: Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        var session = session
        switch event {
        case .message(let message):
            received(message, in: session, &step, random: &random)
        case .ping(let payload):
            session.heartbeat.arrived()
            if let answer = session.pongs.pinged(payload) { step.add(.sendPong(session.socket, answer)) }
            state = .open(session)
        case .pong(let payload):
            session.heartbeat.arrived()
            session.heartbeat.ponged(payload, now: step.now)
            state = .open(session)
        case .closeFrame(let code, let reason):
            // An echo of the code alone: the peer knows its reason (RFC 6455 §5.5.1).
            step.add(.sendClose(session.socket, code: code, reason: ""))
            closed(session, .closeFrame(code: code, reason: reason), by: .server, &step, random: &random)
        case .violation(let failure):
            step.add(.sendClose(session.socket, code: failure.code, reason: failure.reason))
            let outcome = Outcome(code: failure.code, reason: failure.reason, clean: false, peerCode: nil)
            closed(session, outcome, by: .bridge, &step, random: &random)
        case .ended:
            scriptEnded(session, &step)
            guard !promote(after: session, .abnormal, by: .server, &step, random: &random) else { return }
            leave(session, &step)
            connectionLost(.abnormal, by: .server, next: .retry, &step, random: &random)
        case .opened, .failed, .written:
            break  // The first two come once, before.
        }
    }

    /// Close frames have gone both ways, or ours alone since nothing more is understood: the end is all that is left.
    private mutating func closed(
        _ session: Session,
        _ outcome: Outcome,
        by closer: Closer,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        scriptEnded(session, &step)
        guard !hasNextSocket else {
            step.add(.drop(session.socket))
            _ = promote(after: session, outcome, by: closer, &step, random: &random)
            return
        }
        close(session, by: closer, awaited: .end(outcome), next: .retry, &step)
    }

    /// Stops what only an open connection does; the caller sets the next state.
    mutating func leave(_ session: Session, _ step: inout Step) {
        cancelTimers(of: session, &step)
        abandonRotation(&step)
        step.add(.notReady)
    }

    mutating func cancelTimers(of session: Session, _ step: inout Step) {
        let timers = [
            session.script?.deadline, session.heartbeatTimer, session.stableTimer, session.idleTimer,
        ]
        for case let timer? in timers { step.add(.cancelTimer(timer)) }
    }
}
