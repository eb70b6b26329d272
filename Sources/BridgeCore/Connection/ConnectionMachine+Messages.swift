internal import WebSocketProtocol

/// What becomes of a message that is received.
extension ConnectionMachine {
    /// What a message brings about besides what was done about it at once.
    enum Consequence {
        case nothing
        /// It is what the script waited for.
        case expected
        case action(RuleSet.Action)
        /// The peer asks for more than it takes.
        case tooManyReplies
    }

    mutating func received(
        _ message: Message,
        in session: Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        var session = session
        let consequence = take(message, in: &session, &step, random: &random)
        state = .open(session)
        switch consequence {
        case .nothing: break
        case .expected: proceed(session, &step, random: &random)
        case .action(let action): obey(action, in: session, &step, random: &random)
        case .tooManyReplies:
            let text =
                "closed with 1008: the upstream asks for more answers than it reads (\(ReplyLoad.mostReplies) or "
                + "\(ReplyLoad.mostBytes >> 20) MiB wait to be written)"
            step.add(.warn(text))
            step.add(.sendClose(session.socket, code: 1008, reason: "answers are not read"))
            scriptFailed(session, "the upstream does not read the answers that it asks for", &step)
            close(
                session,
                by: .bridge,
                awaited: .closeFrame(session.pongs),
                next: .retry,
                because: "answers are not read",
                &step
            )
        }
    }

    /// Takes a message in: rules, heartbeat, script and subscribers get what is theirs.
    mutating func take(
        _ message: Message,
        in session: inout Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) -> Consequence {
        let unremembered = lastValues.received(message)
        session.heartbeat.arrived()
        session.heartbeat.messageArrived(now: step.now)
        let outcome = rules.apply(to: message, &variables)
        warn(tooLong: outcome.tooLong, unremembered, &step)
        let isAnswer = settings.heartbeat.answer?.matches(message) == true
        if isAnswer { heartbeatAnswered(by: message, in: &session, &step, random: &random) }
        let expectation = session.script?.take(message, of: settings.onOpen)
        if let capture = expectation?.capture {
            warn(tooLong: variables.capture(capture, from: message), [], &step)
        }
        if isAnswer {
            step.add(.passOver(message, isAnswer: true, from: session.socket))
        } else if expectation?.isForwarded != false {
            pass(message, from: session.socket, outcome, &step)
        }
        if let interval = outcome.heartbeatInterval {
            changeHeartbeat(to: interval, of: &session, &step, random: &random)
        }
        for one in outcome.replies where !session.ruleReplies.isTooMuch {
            guard
                let reply = compose(
                    one.template,
                    answering: message,
                    at: one.found,
                    in: &session,
                    step,
                    random: &random
                )
            else {
                warn(unsendable("the reply of rule \(one.rule)"), &step)
                continue
            }
            let bytes = reply.bytes.count
            session.ruleReplies.sent(bytes: bytes)
            step.add(.sendReply(session.socket, reply, as: .ruleReply(bytes: bytes)))
        }
        if let action = outcome.action { return .action(action) }
        if session.ruleReplies.isTooMuch { return .tooManyReplies }
        return expectation == nil ? .nothing : .expected
    }

    /// Warns of what is too long to be kept, once for each variable and pointer.
    mutating func warn(tooLong names: [String], _ pointers: [JSONPointer], _ step: inout Step) {
        let limit = "longer than \(Variables.longest >> 10) KiB and not kept; it counts as absent"
        for name in names { warn("what is captured as `\(name)` is \(limit)", &step) }
        for pointer in pointers { warn("the value at `\(pointer.text)`, for {{last:…}}, is \(limit)", &step) }
    }

    func unsendable(_ what: String) -> String {
        "\(what) is not sent: what is filled in makes it longer than \(Template.longestExpansion >> 20) MiB, or no base64"
    }

    /// Gives a message to the subscribers, unless a rule keeps it from them.
    func pass(_ message: Message, from socket: SocketID, _ outcome: RuleSet.Outcome, _ step: inout Step) {
        step.add(
            outcome.isForwarded
                ? .deliver(message, topic: outcome.topic, from: socket)
                : .passOver(message, isAnswer: false, from: socket)
        )
    }

    private mutating func obey(
        _ action: RuleSet.Action,
        in session: Session,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        switch action {
        case .rotate(let target) where session.script == nil && mayRotate(step.now):
            rotate(to: target, &step)
        case .rotate:
            // Before it is ready, or just after it took another's place: a server that goes on so serves nobody.
            end(
                session,
                code: 1000,
                next: .retry,
                because: "a rule rotates a connection that is not ready",
                &step
            )
        case .reconnect(let code):
            end(session, code: code, next: .retry, because: "a rule begins anew", &step)
        case .stop(let code):
            end(session, code: code, next: .stayClosed, because: "a rule ends the connection", &step)
        }
    }

    private mutating func end(
        _ session: Session,
        code: UInt16,
        next: Farewell.Next,
        because reason: String,
        _ step: inout Step
    ) {
        step.add(.sendClose(session.socket, code: code, reason: ""))
        scriptFailed(session, reason, &step)
        close(session, by: .bridge, awaited: .closeFrame(session.pongs), next: next, &step)
    }
}
