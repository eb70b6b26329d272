internal import WebSocketProtocol

/// One socket takes the place of another before that is closed (`action: rotate`).
extension ConnectionMachine {
    /// The socket that is to take the place of the open one.
    enum Rotation: Sendable {
        /// It is dialled, at this URL if one came in the message.
        case connecting(Attempt, WebSocketURL?)
        /// Its script runs.
        case opening(Session, WebSocketURL?)
        /// It could take over, once nothing is on the way on the old one any more.
        case ready(Session, WebSocketURL?, deadline: TimerID)

        var socket: SocketID {
            switch self {
            case .connecting(let attempt, _): attempt.socket
            case .opening(let session, _), .ready(let session, _, _): session.socket
            }
        }

        /// What bounds its wait.
        var timer: TimerID? {
            switch self {
            case .connecting(let attempt, _): attempt.deadline
            case .opening(let session, _): session.script?.deadline
            case .ready(_, _, let deadline): deadline
            }
        }
    }

    /// A server that wants another socket again so soon is met with the retry policy.
    func mayRotate(_ now: Instant) -> Bool {
        lastRotation.map { now - $0 >= settings.reconnect.resetAfter } ?? true
    }

    mutating func rotate(to target: RotationTarget, _ step: inout Step) {
        guard rotation == nil else { return }
        switch target {
        case .missing:
            let text = "the message that asks for another socket has no URL to dial at the rule's urlPointer"
            step.add(.record(.failed(DialFailure(phase: .url, error: text))))
        case .url(let url):
            let socket = nextSocket()
            rotation = .connecting(attempt(socket, within: settings.connectTimeout, &step), url)
            step.add(.dialElsewhere(socket, url))
        case .same:
            let socket = nextSocket()
            switch supply {
            case .listed:
                rotation = .connecting(attempt(socket, within: settings.connectTimeout, &step), nil)
                step.add(.dial(socket))
            case .asked(let timeout):
                var attempt = attempt(socket, within: timeout, &step)
                attempt.phase = .url
                rotation = .connecting(attempt, nil)
                step.add(.askForURL(socket))
            }
        }
    }

    private mutating func attempt(_ socket: SocketID, within time: Duration, _ step: inout Step) -> Attempt {
        Attempt(socket: socket, deadline: startTimer(after: time, &step))
    }

    mutating func rotationURLFound(_ step: inout Step) {
        guard case .connecting(let attempt, let url) = rotation, attempt.phase == .url else { return }
        step.add(.cancelTimer(attempt.deadline))
        rotation = .connecting(self.attempt(attempt.socket, within: settings.connectTimeout, &step), url)
        step.add(.dial(attempt.socket))
    }

    // MARK: The new one

    mutating func happenedNext(
        _ event: SocketEvent,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        switch rotation {
        case .connecting(let attempt, let url):
            happened(event, during: attempt, at: url, &step, random: &random)
        case .opening(let session, let url):
            happenedNext(event, in: session, &step, random: &random) { .opening($0, url) }
        case .ready(let session, let url, let deadline):
            happenedNext(event, in: session, &step, random: &random) { .ready($0, url, deadline: deadline) }
        case nil:
            break
        }
    }

    private mutating func happened(
        _ event: SocketEvent,
        during attempt: Attempt,
        at url: WebSocketURL?,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        switch event {
        case .opened(let subprotocol, let compression):
            step.add(.cancelTimer(attempt.deadline))
            var session = Session(
                socket: attempt.socket,
                subprotocol: subprotocol,
                compression: compression,
                heartbeat: Heartbeat(settings.heartbeat, now: step.now, random: &random)
            )
            session.script = ScriptRun(isResumption: false)
            rotation = .opening(session, url)
            proceedNext(session, url, &step, random: &random)
        case .failed(let failure):
            rotationFailed(failure, isGone: true, &step)
        case .ended(let error):
            let text = error ?? "the connection ended before it was open"
            rotationFailed(DialFailure(phase: attempt.phase, error: text), isGone: true, &step)
        case .message, .ping, .pong, .closeFrame, .violation, .written:
            break  // Only an open socket has these.
        }
    }

    private mutating func happenedNext(
        _ event: SocketEvent,
        in session: Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator,
        stage: (Session) -> Rotation
    ) {
        var session = session
        switch event {
        case .message(let message):
            let consequence = take(message, in: &session, &step, random: &random)
            rotation = stage(session)
            switch consequence {
            case .nothing: break
            case .expected:
                if case .opening(_, let url) = rotation { proceedNext(session, url, &step, random: &random) }
            case .action, .tooManyReplies:
                rotationFailed(onOpen("a rule ends the connection that was to take over"), &step)
            }
        case .ping(let payload):
            session.heartbeat.arrived()
            if let answer = session.pongs.pinged(payload) { step.add(.sendPong(session.socket, answer)) }
            rotation = stage(session)
        case .pong:
            break  // It was sent no ping.
        case .closeFrame(let code, _):
            step.add(.sendClose(session.socket, code: code, reason: ""))
            rotationFailed(onOpen("the upstream closed the connection that was to take over"), &step)
        case .violation(let failure):
            step.add(.sendClose(session.socket, code: failure.code, reason: failure.reason))
            rotationFailed(onOpen("the connection that was to take over broke the protocol"), &step)
        case .ended:
            let failure = onOpen("the connection that was to take over ended")
            rotationFailed(failure, isGone: true, &step)
        case .opened, .failed, .written:
            break
        }
    }

    private func onOpen(_ text: String) -> DialFailure { DialFailure(phase: .onOpen, error: text) }

    private mutating func proceedNext(
        _ session: Session,
        _ url: WebSocketURL?,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        var session = session
        switch advance(&session, &step, random: &random) {
        case .waiting:
            rotation = .opening(session, url)
        case .stuck:
            rotation = .opening(session, url)
            rotationFailed(onOpen(stuck(session)), &step)
        case .done:
            guard case .open(let old) = state else { return }
            // What was handed to the old one is written, and what it may still answer is awaited, for a while.
            rotation = .ready(session, url, deadline: startTimer(after: settings.closeTimeout, &step))
            step.add(.drain(old.socket))
        }
    }

    mutating func frameWrittenNext(
        _ frame: OwnFrame,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        switch rotation {
        case .opening(var session, let url):
            frameWritten(frame, in: &session, &step, random: &random)
            rotation = .opening(session, url)
        case .ready(var session, let url, let deadline):
            frameWritten(frame, in: &session, &step, random: &random)
            rotation = .ready(session, url, deadline: deadline)
        case .connecting, nil:
            break
        }
    }

    mutating func rotationTimerFired(_ step: inout Step, random: inout some RandomNumberGenerator) {
        switch rotation {
        case .connecting(let attempt, _): rotationFailed(outOfTime(attempt), isTimeOver: true, &step)
        case .opening(let session, _):
            step.add(.sendClose(session.socket, code: 1000, reason: ""))
            rotationFailed(onOpen(outOfTime(session)), isTimeOver: true, &step)
        case .ready(let session, let url, _):
            guard case .open(let old) = state else { return }
            // What it has not written by now it shall not write any more, since the new one will.
            step.add(.drop(old.socket))
            takeOver(session, at: url, from: old, &step, random: &random)
        case nil: break
        }
    }

    /// The new socket will not do: the old one stays.
    private mutating func rotationFailed(
        _ failure: DialFailure,
        isGone: Bool = false,
        isTimeOver: Bool = false,
        _ step: inout Step
    ) {
        guard let rotation else { return }
        if let timer = rotation.timer, !isTimeOver { step.add(.cancelTimer(timer)) }
        if !isGone { step.add(.drop(rotation.socket)) }
        step.add(.record(.failed(failure)))
        endRotation(&step)
    }

    /// The connection ends or begins anew: the new socket has no use any more.
    mutating func abandonRotation(_ step: inout Step) {
        guard let rotation else { return }
        if let timer = rotation.timer { step.add(.cancelTimer(timer)) }
        step.add(.drop(rotation.socket))
        endRotation(&step)
    }

    private mutating func endRotation(_ step: inout Step) {
        if case .ready = rotation, case .open(let old) = state { step.add(.undrain(old.socket)) }
        rotation = nil
    }
}
