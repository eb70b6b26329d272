extension ConnectionMachine {
    mutating func started(_ step: inout Step) {
        guard case .idle = state else { return }
        switch settings.connect {
        case .always: dialIfReachable(&step)
        case .onDemand: if isWanted { dialIfReachable(&step) }
        case .manual: break
        }
    }

    mutating func connectRequested(_ step: inout Step) {
        isAskedFor = true
        switch state {
        case .idle, .offline:
            // Without a network too: it is the user who knows better.
            dial(&step)
        case .closed, .failed:
            startOver()
            dial(&step)
        case .paused:
            startOver()
            step.add(.record(.resumed))
            dial(&step)
        case .waiting(let pause):
            step.add(.cancelTimer(pause.timer))
            dial(&step)
        case .closing(var farewell):
            guard farewell.next != .stop else { return }
            farewell.next = .dial
            state = .closing(farewell)
        case .open(var session):
            // As good as any use of it.
            isAskedFor = false
            session.idleSince = session.idleSince.map { _ in step.now }
            state = .open(session)
        case .connecting, .stopped:
            break
        }
    }

    /// A user's wish to connect is a new beginning.
    mutating func startOver() {
        retries = 0
        attempt = 0
        rests = 0
        rest = nil
    }

    mutating func disconnectRequested(code: UInt16, reason: String, _ step: inout Step) {
        isAskedFor = false
        switch state {
        case .idle, .offline, .failed, .paused:
            state = .closed
        case .connecting(let attempt):
            abandon(attempt, because: "disconnected by the user", &step)
            state = .closed
        case .open(let session):
            takeLeave(of: session, code: code, reason: reason, &step)
            close(session, by: .user, awaited: .closeFrame(session.pongs), next: .stayClosed, &step)
        case .closing(var farewell):
            guard farewell.next != .stop else { return }
            farewell.next = .stayClosed
            state = .closing(farewell)
        case .waiting(let pause):
            step.add(.cancelTimer(pause.timer))
            state = .closed
        case .closed, .stopped:
            break
        }
    }

    mutating func reconnectRequested(_ step: inout Step) {
        isAskedFor = true
        switch state {
        case .idle, .closed, .failed, .waiting, .offline, .paused:
            connectRequested(&step)
        case .connecting(let attempt):
            abandon(attempt, because: "dialled anew by the user", &step)
            dial(&step)
        case .open(let session):
            // Told, but not awaited: the user wants a new socket now, perhaps because this one is dead. A session to
            // resume there would end with a close frame.
            if resumption == nil { step.add(.sendClose(session.socket, code: 1000, reason: "")) }
            leave(session, &step)
            step.add(.drop(session.socket))
            recordClosed(.abnormal, by: .user, &step)
            dial(&step)
        case .closing(let farewell):
            guard farewell.next != .stop else { return }
            cutShort(farewell, &step)
            dial(&step)
        case .stopped:
            break
        }
    }

    /// Waits no more for what the peer owes us; the caller sets the next state.
    private mutating func cutShort(_ farewell: Farewell, _ step: inout Step) {
        step.add(.cancelTimer(farewell.deadline))
        step.add(.drop(farewell.socket))
        recordClosed(farewell.outcome, by: farewell.by, &step)
    }

    mutating func endRequested(_ step: inout Step) {
        guard case .closing(let farewell) = state, farewell.next == .stop else { return }
        cutShort(farewell, &step)
        stop(&step)
    }

    mutating func stopRequested(_ step: inout Step) {
        switch state {
        case .idle, .offline, .closed, .failed, .paused:
            stop(&step)
        case .connecting(let attempt):
            abandon(attempt, because: "the bridge is shutting down", &step)
            stop(&step)
        case .open(let session):
            takeLeave(of: session, code: 1001, &step)
            close(session, by: .bridge, awaited: .closeFrame(session.pongs), next: .stop, &step)
        case .closing(var farewell):
            farewell.next = .stop
            state = .closing(farewell)
        case .waiting(let pause):
            step.add(.cancelTimer(pause.timer))
            stop(&step)
        case .stopped:
            break
        }
    }
}
