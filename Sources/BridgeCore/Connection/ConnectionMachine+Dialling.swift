internal import WebSocketProtocol

extension ConnectionMachine {
    mutating func dial(_ step: inout Step) {
        rest = nil
        let socket = nextSocket()
        if let reason = unusableResumption {
            warn("resumeUrl is not dialled, and what it names is forgotten: \(reason)", &step)
            forgetResumption()
        }
        elsewhere = resumption
        step.add(.record(.connecting))
        if let url = elsewhere {
            var attempt = Attempt(socket: socket, deadline: startTimer(after: settings.connectTimeout, &step))
            attempt.isResumption = true
            state = .connecting(attempt)
            return step.add(.dialElsewhere(socket, url))
        }
        switch supply {
        case .listed:
            dial(socket, &step)
        case .asked(let timeout):
            state = .connecting(
                Attempt(socket: socket, deadline: startTimer(after: timeout, &step), phase: .url)
            )
            step.add(.askForURL(socket))
        }
    }

    private mutating func dial(_ socket: SocketID, _ step: inout Step) {
        state = .connecting(
            Attempt(socket: socket, deadline: startTimer(after: settings.connectTimeout, &step))
        )
        step.add(.dial(socket))
    }

    /// The time to connect begins only now: that for asking was another.
    mutating func urlFound(for socket: SocketID, _ step: inout Step) {
        if rotation?.socket == socket { return rotationURLFound(&step) }
        guard case .connecting(let attempt) = state, attempt.socket == socket, attempt.phase == .url else {
            return
        }
        step.add(.cancelTimer(attempt.deadline))
        dial(socket, &step)
    }

    mutating func dialReached(_ socket: SocketID, _ phase: DialPhase, _ account: String?) {
        if case .connecting(var attempt, let url) = rotation, attempt.socket == socket {
            (attempt.phase, attempt.account) = (phase, account)
            rotation = .connecting(attempt, url)
            return
        }
        guard case .connecting(var attempt) = state, attempt.socket == socket else { return }
        attempt.phase = phase
        attempt.account = account
        state = .connecting(attempt)
    }

    mutating func happened(
        _ event: SocketEvent,
        during attempt: Attempt,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        switch event {
        case .opened(let subprotocol, let compression):
            step.add(.cancelTimer(attempt.deadline))
            open(
                attempt.socket,
                subprotocol: subprotocol,
                compression: compression,
                isResumption: attempt.isResumption,
                &step,
                random: &random
            )
        case .failed(let failure):
            step.add(.cancelTimer(attempt.deadline))
            attemptFailed(attempt, failure, &step, random: &random)
        case .ended(let error):
            step.add(.cancelTimer(attempt.deadline))
            let text = error ?? "the connection ended before it was open"
            attemptFailed(attempt, DialFailure(phase: attempt.phase, error: text), &step, random: &random)
        case .message, .ping, .pong, .closeFrame, .violation, .written:
            break  // Only an open socket has these.
        }
    }

    mutating func attemptTimedOut(
        _ attempt: Attempt,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        step.add(.drop(attempt.socket))
        attemptFailed(attempt, outOfTime(attempt), &step, random: &random)
    }

    func outOfTime(_ attempt: Attempt) -> DialFailure {
        let account = attempt.account.map { "; \($0)" } ?? ""
        return DialFailure(phase: attempt.phase, error: outOfTime(attempt.phase) + account)
    }

    private func outOfTime(_ phase: DialPhase) -> String {
        if phase == .url, case .asked(let timeout) = supply {
            return "no URL to dial within \(timeout.milliseconds) ms"
        }
        return "not connected within \(settings.connectTimeout.milliseconds) ms"
    }

    /// Ends an attempt by the user's or the operator's wish; the caller sets the next state.
    mutating func abandon(_ attempt: Attempt, because reason: String, _ step: inout Step) {
        step.add(.cancelTimer(attempt.deadline))
        step.add(.drop(attempt.socket))
        step.add(.record(.failed(DialFailure(phase: attempt.phase, error: reason))))
    }

    private mutating func attemptFailed(
        _ attempt: Attempt,
        _ failure: DialFailure,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        step.add(.record(.failed(failure)))
        if attempt.isResumption { forgetResumption() } else { turnToNextURL() }
        if let status = failure.status, settings.reconnect.stopOnStatus.contains(status) {
            giveUp(&step)
        } else {
            retry(atLeast: failure.retryAfter, &step, random: &random)
        }
    }

    /// The URL did not do: the next one gets its turn.
    mutating func turnToNextURL() {
        guard case .listed(let count) = supply, count > 1 else { return }
        urlIndex = (urlIndex + 1) % count
    }

    /// Where the session is to be resumed, if all that tells it is known.
    var resumption: WebSocketURL? {
        settings.resumeURL?.text(variables).flatMap { try? WebSocketURL.captured($0) }
    }

    /// What is wrong with that, if all that tells it is known.
    private var unusableResumption: String? {
        guard let text = settings.resumeURL?.text(variables) else { return nil }
        do throws(UnusableURL) {
            _ = try WebSocketURL.captured(text)
            return nil
        } catch {
            return error.text
        }
    }

    /// The session cannot be resumed.
    mutating func forgetResumption() {
        variables.forget(settings.resumeURL?.variables ?? [])
    }

    /// Schedules the next dial, if there is to be one.
    mutating func retry(
        atLeast lowerBound: Duration? = nil,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        guard settings.reconnect.enabled else {
            step.add(.sayFinal("`reconnect.enabled` is false"))
            state = .closed
            return
        }
        let earliest = lowerBound.map { step.now + min($0, Backoff.longestLowerBound) }
        guard !isLeftAlone else {
            // No retry is announced, and so none is counted.
            rests += 1
            let delay = backoff.delay(attempt: retries + rests, atLeast: lowerBound, random: &random)
            rest = Rest(until: step.now + delay, earliest: earliest)
            state = .idle
            return
        }
        guard isReachable else {
            // What no network let happen is no attempt that failed.
            state = .offline(Absence(earliest: earliest))
            return
        }
        if let limit = settings.reconnect.maxRetries, retries >= limit { return giveUp(&step) }
        retries += 1
        attempt += 1
        let delay = backoff.delay(attempt: retries, atLeast: lowerBound, random: &random)
        step.add(.record(.reconnecting(attempt: retries, delay: delay)))
        let timer = startTimer(after: delay, &step)
        state = .waiting(Pause(timer: timer, until: step.now + delay, earliest: earliest))
    }

    private mutating func giveUp(_ step: inout Step) {
        step.add(.record(.gaveUp(attempts: retries)))
        state = .failed
    }
}
