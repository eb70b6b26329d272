internal import WebSocketProtocol

extension ConnectionMachine {
    mutating func open(
        _ socket: SocketID,
        subprotocol: String?,
        compression: Bool,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        step.add(.record(.open(subprotocol: subprotocol, reconnected: hasOpened)))
        step.add(.record(.ready))
        hasOpened = true
        hasLasted = false
        attempt = 0
        var session = Session(
            socket: socket,
            subprotocol: subprotocol,
            compression: compression,
            heartbeat: Heartbeat(settings.heartbeat, now: step.now, random: &random)
        )
        // Not before then: a server that accepts and closes at once must meet growing delays.
        session.stableTimer = startTimer(after: settings.reconnect.resetAfter, &step)
        if let wait = session.heartbeat.begin(now: step.now, random: &random) {
            session.heartbeatTimer = startTimer(after: wait, &step)
        }
        isAskedFor = false
        session.idleSince = isWanted ? nil : step.now
        state = .open(session)
        watchIdling(&step)
        step.add(.ready)
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
            if let answer = session.pongs.pinged(payload) { step.add(.sendPong(answer)) }
            state = .open(session)
        case .pong(let payload):
            session.heartbeat.arrived()
            session.heartbeat.ponged(payload, now: step.now)
            state = .open(session)
        case .closeFrame(let code, let reason):
            // An echo of the code alone: the peer knows its reason (RFC 6455 §5.5.1).
            step.add(.sendClose(code: code, reason: ""))
            let outcome = Outcome.closeFrame(code: code, reason: reason)
            close(session, by: .server, awaited: .end(outcome), next: .retry, &step)
        case .violation(let failure):
            step.add(.sendClose(code: failure.code, reason: failure.reason))
            let outcome = Outcome(code: failure.code, reason: failure.reason, clean: false, peerCode: nil)
            close(session, by: .bridge, awaited: .end(outcome), next: .retry, &step)
        case .ended:
            leave(session, &step)
            connectionLost(.abnormal, by: .server, next: .retry, &step, random: &random)
        case .opened, .failed, .written:
            break  // The first two come once, before.
        }
    }

    /// Stops what only an open connection does; the caller sets the next state.
    mutating func leave(_ session: Session, _ step: inout Step) {
        if let timer = session.heartbeatTimer { step.add(.cancelTimer(timer)) }
        if let timer = session.stableTimer { step.add(.cancelTimer(timer)) }
        if let timer = session.idleTimer { step.add(.cancelTimer(timer)) }
        step.add(.notReady)
    }
}
