extension ConnectionMachine {
    /// Without effect where a user or the upstream closed for good, since there is nothing to go on with.
    mutating func pauseRequested(_ step: inout Step) {
        switch state {
        case .idle:
            // One that is to be up is idle only before it started.
            pause(then: settings.connect == .always ? .dial : .idle, &step)
        case .connecting(let attempt):
            abandon(attempt, because: "paused by the user", &step)
            pause(then: .dial, &step)
        case .open(let session):
            takeLeave(of: session, code: 1000, &step)
            close(session, by: .bridge, awaited: .closeFrame(session.pongs), next: .pause, &step)
        case .closing(var farewell):
            switch farewell.next {
            case .retry, .dial, .idle, .pause: farewell.next = .pause
            case .stayClosed, .stop: return
            }
            state = .closing(farewell)
        case .waiting(let pending):
            step.add(.cancelTimer(pending.timer))
            pause(then: .dial, &step)
        case .offline:
            pause(then: .dial, &step)
        case .paused, .closed, .failed, .stopped:
            break
        }
    }

    mutating func resumeRequested(_ step: inout Step) {
        switch state {
        case .paused(.idle):
            rest = nil
            step.add(.record(.resumed))
            state = .idle
            if followsDemand, isWanted { dialIfReachable(&step) }
        case .paused(.dial):
            isAskedFor = true
            startOver()
            step.add(.record(.resumed))
            dialIfReachable(&step)
        case .closing(var farewell) where farewell.next == .pause:
            // The pause has not begun on record, so nothing ends.
            farewell.next = .dial
            state = .closing(farewell)
        case .idle, .connecting, .open, .closing, .waiting, .offline, .closed, .failed, .stopped:
            break
        }
    }

    /// No socket and no timer is left.
    mutating func pause(then afterwards: Afterwards, _ step: inout Step) {
        step.add(.record(.paused))
        state = .paused(afterwards)
    }
}
