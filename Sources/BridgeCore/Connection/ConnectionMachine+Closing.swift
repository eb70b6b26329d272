internal import WebSocketProtocol

extension ConnectionMachine {
    /// Closes an open connection that is not wanted any more; the caller waits for what the peer owes us.
    ///
    /// With 1000 and 1001 that is the end of a session as well (RFC 6455 §7.4.1), so there is none to resume.
    mutating func takeLeave(of session: Session, code: UInt16, reason: String = "", _ step: inout Step) {
        step.add(.sendClose(session.socket, code: code, reason: reason))
        if code == 1000 || code == 1001 { forgetResumption() }
    }

    /// Our close frame was sent: waits for what the peer owes us, for `closeTimeout` at most.
    mutating func close(
        _ session: Session,
        by closer: Closer,
        awaited: Farewell.Awaited,
        next: Farewell.Next,
        because cause: String = "",
        _ step: inout Step
    ) {
        leave(session, &step)
        state = .closing(
            Farewell(
                socket: session.socket,
                deadline: startTimer(after: settings.closeTimeout, &step),
                by: closer,
                awaited: awaited,
                next: next,
                cause: cause
            )
        )
    }

    mutating func happened(
        _ event: SocketEvent,
        during farewell: Farewell,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        var farewell = farewell
        switch event {
        case .message(let message):
            // What the peer sent before it saw our close frame is as good as any other.
            guard case .closeFrame = farewell.awaited else { return }
            receivedLate(message, on: farewell.socket, &step)
        case .ping(let payload):
            if let answer = farewell.pinged(payload) { step.add(.sendPong(farewell.socket, answer)) }
            state = .closing(farewell)
        case .closeFrame(let code, let reason):
            guard case .closeFrame = farewell.awaited else { return }
            farewell.awaited = .end(.closeFrame(code: code, reason: reason))
            state = .closing(farewell)
        case .violation:
            // Our one close frame is gone, so there is nothing left to say.
            step.add(.cancelTimer(farewell.deadline))
            step.add(.drop(farewell.socket))
            ended(farewell, &step, random: &random)
        case .ended:
            step.add(.cancelTimer(farewell.deadline))
            ended(farewell, &step, random: &random)
        case .opened, .failed, .pong, .written:
            break
        }
    }

    /// The socket of a closing connection is gone, and so is its timer.
    mutating func ended(
        _ farewell: Farewell,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        connectionLost(farewell.outcome, by: farewell.by, next: farewell.next, &step, random: &random)
    }

    /// Records the end of an open connection and goes on to what comes next.
    mutating func connectionLost(
        _ outcome: Outcome,
        by closer: Closer,
        next: Farewell.Next,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        recordClosed(outcome, by: closer, &step)
        if settings.reconnect.forgetOnCloseCodes.contains(where: { $0.contains(outcome.code) }) {
            forgetResumption()
        }
        switch next {
        case .retry:
            // One that accepts and closes at once must not keep the others from their turn; that there is no
            // network is nobody's fault.
            if !hasLasted, isReachable { turnToNextURL() }
            if isFinal(outcome) {
                end(with: outcome, &step)
            } else {
                retry(&step, random: &random)
            }
        case .dial: dial(&step)
        case .stayClosed: state = .closed
        case .idle:
            state = .idle
            if !isLeftAlone { dialIfReachable(&step) }
        case .pause:
            // Only what the upstream says can be its last word.
            if closer == .server, isFinal(outcome) {
                end(with: outcome, &step)
            } else {
                pause(then: .dial, &step)
            }
        case .stop: stop(&step)
        }
    }

    /// A message came that nobody can answer any more.
    mutating func receivedLate(_ message: Message, on socket: SocketID, _ step: inout Step) {
        let unremembered = lastValues.received(message)
        let outcome = rules.apply(to: message, &variables)
        warn(tooLong: outcome.tooLong, unremembered, &step)
        guard settings.heartbeat.answer?.matches(message) != true else { return }
        pass(message, from: socket, outcome, &step)
    }

    func isFinal(_ outcome: Outcome) -> Bool {
        settings.reconnect.stopOnCloseCodes.contains { $0.contains(outcome.code) }
    }

    private mutating func end(with outcome: Outcome, _ step: inout Step) {
        step.add(.sayFinal("its close code \(outcome.code) is one of `reconnect.stopOnCloseCodes`"))
        state = .closed
    }

    func recordClosed(_ outcome: Outcome, by closer: Closer, _ step: inout Step) {
        step.add(
            .record(.closed(code: outcome.code, reason: outcome.reason, clean: outcome.clean, by: closer))
        )
        step.add(.returnInFlight(closeCode: outcome.peerCode))
    }

    mutating func stop(_ step: inout Step) {
        dropLeaving(&step)
        state = .stopped
        step.add(.finished)
    }
}
