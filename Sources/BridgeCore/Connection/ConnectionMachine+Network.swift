extension ConnectionMachine {
    var isReachable: Bool { network != .unreachable }

    /// Dials, or waits for a way to the upstream: for every dial that no user asked for just now.
    ///
    /// A message or a reader that needs the connection waits with it.
    mutating func dialIfReachable(_ step: inout Step) {
        guard isReachable else {
            state = .offline(Absence(earliest: rest?.earliest))
            return
        }
        guard let rest, rest.until > step.now else { return dial(&step) }
        let timer = startTimer(after: rest.until - step.now, &step)
        state = .waiting(Pause(timer: timer, until: rest.until, earliest: rest.earliest))
    }

    mutating func networkLost(_ step: inout Step, random: inout some RandomNumberGenerator) {
        guard network == .reachable, !isStopped else { return }
        network = .unreachable
        step.add(.record(.networkLost))
        switch state {
        case .connecting(let attempt):
            abandon(attempt, because: "there is no network to the upstream", &step)
            retry(&step, random: &random)
        case .open(let session):
            leave(session, &step)
            step.add(.drop(session.socket))
            connectionLost(.abnormal, by: .bridge, next: .retry, &step, random: &random)
        case .closing(let farewell):
            step.add(.cancelTimer(farewell.deadline))
            step.add(.drop(farewell.socket))
            ended(farewell, &step, random: &random)
        case .waiting(let pause):
            step.add(.cancelTimer(pause.timer))
            state = .offline(Absence(earliest: pause.earliest))
        case .idle, .offline, .paused, .closed, .failed, .stopped:
            break
        }
    }

    mutating func networkRestored(_ step: inout Step) {
        guard network == .unreachable, !isStopped else { return }
        network = .reachable
        step.add(.record(.networkRestored))
        guard case .offline(let absence) = state else { return }
        guard !isLeftAlone else {
            rest = absence.earliest.map { Rest(until: $0, earliest: $0) }
            state = .idle
            return
        }
        guard let earliest = absence.earliest, earliest > step.now else { return dial(&step) }
        let timer = startTimer(after: earliest - step.now, &step)
        state = .waiting(Pause(timer: timer, until: earliest, earliest: earliest))
    }

    /// The machine of other settings goes on from what this one knows, if it watches the network as well.
    mutating func keepNetwork(of former: ConnectionMachine) {
        guard network == .reachable, former.network == .unreachable else { return }
        network = .unreachable
    }

    private var isStopped: Bool {
        switch state {
        case .stopped: true
        case .idle, .connecting, .open, .closing, .waiting, .offline, .paused, .closed, .failed: false
        }
    }
}
