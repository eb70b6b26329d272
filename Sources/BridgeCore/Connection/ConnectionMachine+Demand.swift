/// Connections that are there for whoever asks (`connect: onDemand`), and those that a message wakes.
extension ConnectionMachine {
    /// The delay before the next attempt, while nobody waits for that.
    struct Rest: Sendable {
        /// When it is over.
        let until: Instant
        /// When the upstream wants to be dialled again at the earliest.
        let earliest: Instant?
    }

    /// Whether it matters who needs the connection.
    var followsDemand: Bool { outlook.followsDemand }

    /// Nobody needs the connection, and it is there only for those who do.
    var isLeftAlone: Bool { followsDemand && !isWanted && !isAskedFor }

    /// A message came, whether it is taken or not.
    mutating func messageOffered(_ step: inout Step) {
        guard carriesMessages else { return }
        switch state {
        case .idle where followsDemand:
            isAskedFor = true
            dialIfReachable(&step)
        case .failed where settings.outbox.wakes:
            isAskedFor = true
            startOver()
            dialIfReachable(&step)
        case .idle, .connecting, .open, .closing, .waiting, .offline, .paused, .closed, .failed, .stopped:
            break
        }
    }

    mutating func demandChanged(_ isWanted: Bool, _ step: inout Step) {
        self.isWanted = isWanted
        guard followsDemand else { return }
        switch state {
        case .idle:
            if isWanted { dialIfReachable(&step) }
        case .open(var session):
            session.idleSince = isWanted ? nil : step.now
            state = .open(session)
            watchIdling(&step)
        case .connecting, .closing, .waiting, .offline:
            break  // Looked at when that is over; delays hold for everyone.
        case .paused, .closed, .failed, .stopped:
            break  // A user's wish, or the end of all attempts, is not undone by whoever reads or sends.
        }
    }

    /// Sees to it that an open connection that nobody needs is looked at in time.
    ///
    /// Its timer is not moved with every message: one that fires too early is set anew for the rest.
    mutating func watchIdling(_ step: inout Step) {
        guard followsDemand, case .open(var session) = state, session.idleTimer == nil,
            let since = session.idleSince
        else { return }
        session.idleTimer = startTimer(after: max(since + settings.idleTimeout - step.now, .zero), &step)
        state = .open(session)
    }

    mutating func idleTimerFired(_ session: Session, _ step: inout Step) {
        var session = session
        session.idleTimer = nil
        state = .open(session)
        guard let since = session.idleSince else { return }
        guard step.now - since >= settings.idleTimeout else { return watchIdling(&step) }
        takeLeave(of: session, code: 1000, &step)
        close(session, by: .bridge, awaited: .closeFrame(session.pongs), next: .idle, &step)
    }
}
