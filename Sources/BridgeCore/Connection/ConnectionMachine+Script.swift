internal import WebSocketProtocol

/// What is said between the handshake and the first message (`onOpen`).
extension ConnectionMachine {
    /// How a script stands when all that could be done has been done.
    enum ScriptState {
        case waiting
        case done
        /// A step makes no message that could be sent.
        case stuck
    }

    /// Takes the steps up to one that waits; after the last one the connection is ready.
    mutating func proceed(
        _ session: Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        var session = session
        switch advance(&session, &step, random: &random) {
        case .waiting: state = .open(session)
        case .done: becomeReady(session, &step, random: &random)
        case .stuck: giveUpScript(session, stuck(session), &step)
        }
    }

    mutating func advance(
        _ session: inout Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) -> ScriptState {
        if let deadline = session.script?.deadline { step.add(.cancelTimer(deadline)) }
        session.script?.deadline = nil
        while let turn = session.script?.next(of: settings.onOpen, variables) {
            switch turn {
            case .done:
                session.script = nil
            case .expect(let timeout):
                let delay = patience(timeout, unwritten: session.script?.unwritten ?? 0)
                session.script?.deadline = startTimer(after: delay, &step)
                return .waiting
            case .send(let template):
                let message = session.script?.message
                guard
                    let sent = compose(template, answering: message, in: &session, step, random: &random)
                else { return .stuck }
                session.script?.unwritten += 1
                step.add(.sendScript(session.socket, sent))
            }
        }
        return .done
    }

    /// The kernel took a message of the script: from the last one on the upstream has its time to answer.
    mutating func scriptWritten(in session: inout Session, _ step: inout Step) {
        guard let run = session.script else { return }
        let unwritten = run.unwritten - 1
        session.script?.unwritten = unwritten
        guard let deadline = run.deadline, case .expect(let expectation) = settings.onOpen[run.index].deed
        else { return }
        step.add(.cancelTimer(deadline))
        let delay = patience(expectation.timeout, unwritten: unwritten)
        session.script?.deadline = startTimer(after: delay, &step)
    }

    /// How long to wait for a message, or for the kernel to take the next one of those in front of it: the rate holds
    /// that back for one span at most.
    private func patience(_ timeout: Duration, unwritten: Int) -> Duration {
        unwritten > 0 ? timeout + (settings.rate?.per ?? .zero) : timeout
    }

    mutating func stepTimedOut(_ session: Session, _ step: inout Step) {
        var session = session
        session.script?.deadline = nil
        giveUpScript(session, outOfTime(session), &step)
    }

    func outOfTime(_ session: Session) -> String {
        let index = session.script?.index ?? 0
        var text = "step \(index + 1) of onOpen: no message came that it expects"
        if index < settings.onOpen.count, case .expect(let expectation) = settings.onOpen[index].deed {
            text += ", within \(expectation.timeout.milliseconds) ms"
        }
        return text
    }

    func stuck(_ session: Session) -> String {
        "step \(session.script?.index ?? 0) of onOpen: what is filled in makes its message too long, or no base64"
    }

    private mutating func giveUpScript(_ session: Session, _ text: String, _ step: inout Step) {
        step.add(.sendClose(session.socket, code: 1000, reason: ""))
        scriptFailed(session, text, &step)
        close(session, by: .bridge, awaited: .closeFrame(session.pongs), next: .retry, &step)
    }

    /// The connection ends, and if it was not ready yet this is why.
    mutating func scriptFailed(_ session: Session, _ text: String, _ step: inout Step) {
        guard let run = session.script else { return }
        step.add(.record(.failed(DialFailure(phase: .onOpen, error: text))))
        if run.isResumption { forgetResumption() }
    }

    /// The peer has ended the connection, perhaps before it was ready.
    mutating func scriptEnded(_ session: Session, _ step: inout Step) {
        guard let run = session.script else { return }
        scriptFailed(session, "the connection ended during step \(run.index + 1) of onOpen", &step)
    }
}
