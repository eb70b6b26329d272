internal import WebSocketProtocol

extension ConnectionMachine {
    // MARK: What arrives

    /// A message came that is the answer to a heartbeat.
    mutating func heartbeatAnswered(
        by message: Message,
        in session: inout Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        session.heartbeat.answered(now: step.now)
        guard settings.heartbeat.reply != nil, let question = session.replies.asked(message) else { return }
        reply(to: question, in: &session, &step, random: &random)
    }

    private mutating func reply(
        to message: Message,
        in session: inout Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        guard let template = settings.heartbeat.reply else { return }
        guard let reply = compose(template, answering: message, in: &session, step, random: &random) else {
            return warn(unsendable("heartbeat.reply"), &step)
        }
        session.replies.answered(bytes: reply.bytes.count)
        step.add(.sendReply(session.socket, reply, as: .reply))
    }

    /// Fills in a template; nil if no message comes of it.
    func compose(
        _ template: MessageTemplate,
        answering message: Message? = nil,
        at found: [Range<Int>?]? = nil,
        in session: inout Session,
        _ step: Step,
        random: inout some RandomNumberGenerator
    ) -> Message? {
        var values = TemplateValues(
            timeOfDay: step.timeOfDay,
            counter: session.numbered + 1,
            sha256: sha256
        )
        values.message = message
        values.found = found
        values.last = lastValues
        values.variables = variables.values
        guard let composed = template.message(with: values, random: &random) else { return nil }
        if template.template.needsCounter { session.numbered += 1 }
        return composed
    }

    /// Takes the number of a message on the socket that carries the messages, as `{{counter}}` does; zero without one.
    package mutating func takeNumber() -> Int {
        guard case .open(var session) = state else { return 0 }
        session.numbered += 1
        state = .open(session)
        return session.numbered
    }

    mutating func readProgressed(on socket: SocketID, _ intake: Intake, hasGrown: Bool) {
        guard case .open(var session) = state, session.socket == socket else { return }
        session.heartbeat.read(intake, hasGrown: hasGrown)
        state = .open(session)
    }

    // MARK: What is written

    mutating func writeProgressed(on socket: SocketID) {
        guard case .open(var session) = state, session.socket == socket else { return }
        session.heartbeat.writeProgressed()
        state = .open(session)
    }

    mutating func frameWritten(
        _ frame: OwnFrame,
        in session: Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        var session = session
        frameWritten(frame, in: &session, &step, random: &random)
        state = .open(session)
    }

    mutating func frameWritten(
        _ frame: OwnFrame,
        in session: inout Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        switch frame {
        case .heartbeat: heartbeatWritten(in: &session, &step)
        case .pong:
            if let payload = session.pongs.pongWritten() { step.add(.sendPong(session.socket, payload)) }
        case .reply:
            if let question = session.replies.written() {
                reply(to: question, in: &session, &step, random: &random)
            }
        case .ruleReply(let bytes): session.ruleReplies.written(bytes: bytes)
        case .script: scriptWritten(in: &session, &step)
        }
    }

    private mutating func heartbeatWritten(in session: inout Session, _ step: inout Step) {
        guard session.heartbeat.written(now: step.now) else { return }
        heartbeatsSent += 1
        restartHeartbeatTimer(of: &session, &step)
    }

    // MARK: When it is time

    mutating func heartbeatFellDue(
        _ session: Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        var session = session
        session.heartbeatTimer = nil
        let verdict = session.heartbeat.fellDue(now: step.now)
        if let misses = verdict.missed { step.add(.record(.heartbeatMissed(misses: misses))) }
        guard !verdict.isLost else { return heartbeatLost(session, &step, random: &random) }
        if verdict.isDue { beat(in: &session, &step, random: &random) }
        restartHeartbeatTimer(of: &session, &step)
        state = .open(session)
    }

    /// Nobody knows what became of the peer meanwhile: it is asked at once.
    mutating func woke(_ step: inout Step, random: inout some RandomNumberGenerator) {
        guard case .open(var session) = state, session.heartbeatTimer != nil else { return }
        if session.heartbeat.woke(now: step.now) { beat(in: &session, &step, random: &random) }
        restartHeartbeatTimer(of: &session, &step)
        state = .open(session)
    }

    private mutating func beat(
        in session: inout Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        switch settings.heartbeat.send {
        case .ping:
            step.add(.sendPing(session.socket, session.heartbeat.ping()))
        case .message(let template):
            guard let message = compose(template, in: &session, step, random: &random) else {
                session.heartbeat.skipped()
                return warn(unsendable("heartbeat.send"), &step)
            }
            session.heartbeat.messageSent()
            step.add(.sendHeartbeat(session.socket, message))
        case .none:
            break
        }
    }

    private mutating func restartHeartbeatTimer(of session: inout Session, _ step: inout Step) {
        if let timer = session.heartbeatTimer { step.add(.cancelTimer(timer)) }
        session.heartbeatTimer = startTimer(after: session.heartbeat.interval, &step)
    }

    /// The upstream has told how often it wants to hear from us.
    mutating func changeHeartbeat(
        to interval: Duration,
        of session: inout Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        guard interval != session.heartbeat.interval else { return }
        session.heartbeat.interval = interval
        // One that runs already goes on from now; the first one of a socket comes when that carries the messages.
        guard case .open(let current) = state, current.socket == session.socket, session.script == nil else {
            return
        }
        if let timer = session.heartbeatTimer { step.add(.cancelTimer(timer)) }
        session.heartbeatTimer = session.heartbeat.begin(now: step.now, random: &random).map { wait in
            startTimer(after: wait, &step)
        }
    }

    private mutating func heartbeatLost(
        _ session: Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        step.add(.record(.heartbeatLost))
        if let code = settings.heartbeat.closeCode {
            step.add(.sendClose(session.socket, code: code, reason: "heartbeat lost"))
            guard !hasNextSocket else {
                step.add(.drop(session.socket))
                _ = promote(after: session, .abnormal, by: .bridge, &step, random: &random)
                return
            }
            close(session, by: .bridge, awaited: .closeFrame(session.pongs), next: .retry, &step)
        } else {
            step.add(.drop(session.socket))
            guard !promote(after: session, .abnormal, by: .bridge, &step, random: &random) else { return }
            leave(session, &step)
            connectionLost(.abnormal, by: .bridge, next: .retry, &step, random: &random)
        }
    }
}
