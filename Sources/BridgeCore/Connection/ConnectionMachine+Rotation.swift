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
        /// The last one would not do; the next one is dialled when the time is over.
        case waiting(WebSocketURL?, TimerID)

        /// Nil while there is none.
        var socket: SocketID? {
            switch self {
            case .connecting(let attempt, _): attempt.socket
            case .opening(let session, _), .ready(let session, _, _): session.socket
            case .waiting: nil
            }
        }

        /// Where it was told to go.
        var url: WebSocketURL? {
            switch self {
            case .connecting(_, let url), .opening(_, let url), .ready(_, let url, _), .waiting(let url, _):
                url
            }
        }

        /// What bounds its wait.
        var timer: TimerID? {
            switch self {
            case .connecting(let attempt, _): attempt.deadline
            case .opening(let session, _): session.script?.deadline
            case .ready(_, _, let deadline): deadline
            case .waiting(_, let timer): timer
            }
        }
    }

    /// There is a socket that is to take the place of the open one.
    var hasNextSocket: Bool { rotation?.socket != nil }

    /// A server that wants another socket again so soon is met with the retry policy.
    func mayRotate(_ now: Instant) -> Bool {
        lastRotation.map { now - $0 >= settings.reconnect.resetAfter } ?? true
    }

    mutating func rotate(to target: RotationTarget, _ step: inout Step) {
        switch target {
        case .unusable(let reason):
            guard rotation == nil else { return }
            let text =
                "the message that asks for another socket has no URL to dial at the rule's urlPointer: \(reason)"
            step.add(.record(.failed(DialFailure(phase: .url, error: text))))
        case .url(let url): rotate(at: url, &step)
        case .same: rotate(at: nil, &step)
        }
    }

    private mutating func rotate(at url: WebSocketURL?, _ step: inout Step) {
        switch rotation {
        case nil:
            rotationRetries = 0
            dialNext(at: url, &step)
        case .waiting(_, let timer):
            // Where to go may have changed; the delay holds all the same.
            rotation = .waiting(url, timer)
        case .connecting, .opening, .ready: break
        }
    }

    private mutating func dialNext(at url: WebSocketURL?, _ step: inout Step) {
        let socket = nextSocket()
        if let url {
            rotation = .connecting(attempt(socket, within: settings.connectTimeout, &step), url)
            return step.add(.dialElsewhere(socket, url))
        }
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
        case .waiting, nil:
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
            rotationFailed(failure, isGone: true, &step, random: &random)
        case .ended(let error):
            let text = error ?? "the connection ended before it was open"
            let failure = DialFailure(phase: attempt.phase, error: text)
            rotationFailed(failure, isGone: true, &step, random: &random)
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
            case .action(let action):
                let failure = onOpen("a rule ends the connection that was to take over")
                rotationFailed(failure, isFinal: action.isFinal, &step, random: &random)
            case .tooManyReplies:
                let failure = onOpen("the upstream does not read the answers that it asks for")
                rotationFailed(failure, &step, random: &random)
            }
        case .ping(let payload):
            session.heartbeat.arrived()
            if let answer = session.pongs.pinged(payload) { step.add(.sendPong(session.socket, answer)) }
            rotation = stage(session)
        case .pong:
            break  // It was sent no ping.
        case .closeFrame(let code, let reason):
            step.add(.sendClose(session.socket, code: code, reason: ""))
            let failure = onOpen("the upstream closed the connection that was to take over")
            let isFinal = isFinal(.closeFrame(code: code, reason: reason))
            rotationFailed(failure, isFinal: isFinal, &step, random: &random)
        case .violation(let violation):
            step.add(.sendClose(session.socket, code: violation.code, reason: violation.reason))
            let failure = onOpen("the connection that was to take over broke the protocol")
            rotationFailed(failure, &step, random: &random)
        case .ended:
            let failure = onOpen("the connection that was to take over ended")
            rotationFailed(failure, isGone: true, &step, random: &random)
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
            rotationFailed(onOpen(stuck(session)), &step, random: &random)
        case .done:
            guard case .open(let old) = state else { return }
            // What was handed to the old one is written, and what it may still answer is awaited, for a while.
            rotation = .ready(session, url, deadline: startTimer(after: settings.closeTimeout, &step))
            flushedSocket = nil
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
        case .connecting, .waiting, nil:
            break
        }
    }

    mutating func rotationTimerFired(_ step: inout Step, random: inout some RandomNumberGenerator) {
        switch rotation {
        case .connecting(let attempt, _):
            rotationFailed(outOfTime(attempt), isTimeOver: true, &step, random: &random)
        case .opening(let session, _):
            step.add(.sendClose(session.socket, code: 1000, reason: ""))
            rotationFailed(onOpen(outOfTime(session)), isTimeOver: true, &step, random: &random)
        case .ready(let session, let url, _):
            guard case .open(let old) = state else { return }
            guard flushedSocket != old.socket else {
                return part(from: old, for: session, at: url, &step, random: &random)
            }
            // What it has not written by now it shall not write any more, since the new one will.
            step.add(.drop(old.socket))
            takeOver(session, at: url, from: old, &step, random: &random)
        case .waiting(let url, _): dialNext(at: url, &step)
        case nil: break
        }
    }

    /// The new socket will not do: the old one stays, and until it ends another is tried as after any failed attempt.
    private mutating func rotationFailed(
        _ failure: DialFailure,
        isGone: Bool = false,
        isTimeOver: Bool = false,
        isFinal: Bool = false,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        guard let rotation, let socket = rotation.socket else { return }
        if let timer = rotation.timer, !isTimeOver { step.add(.cancelTimer(timer)) }
        if !isGone { step.add(.drop(socket)) }
        step.add(.record(.failed(failure)))
        endRotation(&step)
        let policy = settings.reconnect
        let isRefused = failure.status.map(policy.stopOnStatus.contains) ?? false
        guard policy.enabled, !isFinal, !isRefused, rotationRetries < policy.maxRetries ?? .max else {
            return
        }
        rotationRetries += 1
        let delay = backoff.delay(attempt: rotationRetries, atLeast: failure.retryAfter, random: &random)
        self.rotation = .waiting(rotation.url, startTimer(after: delay, &step))
    }

    /// The connection ends or begins anew: the new socket has no use any more.
    mutating func abandonRotation(_ step: inout Step) {
        guard let rotation else { return }
        if let timer = rotation.timer { step.add(.cancelTimer(timer)) }
        if let socket = rotation.socket { step.add(.drop(socket)) }
        endRotation(&step)
    }

    private mutating func endRotation(_ step: inout Step) {
        if case .ready = rotation, case .open(let old) = state { step.add(.undrain(old.socket)) }
        rotation = nil
    }
}
