package import WebSocketProtocol

/// Decides everything about one managed connection: when to dial, ping, close, wait and give up.
///
/// It knows no socket and no clock. Feed it what happened, in order, and carry out the actions it returns, in
/// order; report what they bring about only after all of them were carried out. At most one socket lives at a
/// time, and two more while one takes the place of another; every wait has a timer, and what an old socket or timer
/// still reports is ignored.
package struct ConnectionMachine: Sendable {
    let settings: ConnectionSettings
    let supply: URLSupply
    let backoff: Backoff
    var state = State.idle
    /// As of the last event.
    package private(set) var outlook: Outlook
    /// Retries since the connection was last ready for `resetAfter`, from which the delay and the end follow.
    var retries = 0
    /// Retries since the connection was last ready at all, for the status.
    package internal(set) var attempt = 0
    /// Whether there is a way to the upstream; where that is not watched there always is.
    package internal(set) var network: ConnectionStatus.Network
    /// Which of the listed URLs is dialled next, or was last.
    package internal(set) var urlIndex = 0
    /// The last socket that was open was ready for `resetAfter`.
    var hasLasted = false
    /// An earlier socket of this connection was open.
    var hasOpened = false
    /// Someone needs the connection.
    package internal(set) var isWanted = false
    /// A connection on demand was asked for by a user or a message, and has not been open since.
    var isAskedFor = false
    /// Who needs an idle connection waits for this, since its last attempt failed or its socket was lost.
    var rest: Rest?
    /// How many of these there were since the connection was last ready for `resetAfter`.
    var rests = 0
    /// Heartbeats written over all sockets.
    package internal(set) var heartbeatsSent = 0
    /// What templates know of messages received, over all sockets.
    var lastValues: LastValues
    /// What was captured of them.
    package internal(set) var variables = Variables()
    let rules: RuleSet
    /// Warnings that were given, each once; they name nothing but parts of the settings, so they are bounded.
    private var warnings: Set<String> = []
    /// The URL of the present attempt or socket, where it is not the listed or found one.
    package internal(set) var elsewhere: WebSocketURL?
    /// Only while the connection is open.
    var rotation: Rotation?
    /// How often the present rotation was tried again.
    var rotationRetries = 0
    var leaving: Leaving?
    /// While another socket is ready to take its place: nothing waits on this one any more but answers to requests.
    var flushedSocket: SocketID?
    /// When a socket last took the place of another.
    var lastRotation: Instant?
    let sha256: SHA256
    /// `handle` must be told the time of day.
    package let needsTimeOfDay: Bool
    private var lastSocket: UInt64 = 0
    private var lastTimer: UInt64 = 0

    package init(
        _ settings: ConnectionSettings,
        supply: URLSupply = .listed(count: 1),
        sha256: @escaping SHA256
    ) {
        self.settings = settings
        self.supply = supply
        self.sha256 = sha256
        outlook = Outlook(settings)
        backoff = Backoff(settings.reconnect)
        network = settings.network == .auto ? .reachable : .ignored
        rules = RuleSet(settings.rules)
        let templates = settings.templates
        lastValues = LastValues(templates.flatMap(\.remembered))
        needsTimeOfDay = templates.contains { $0.needsTimeOfDay }
    }

    /// The machine of the same connection when it begins anew with other settings.
    ///
    /// Its sockets and timers are counted on, so that late news of old ones is recognised.
    package func successor(_ settings: ConnectionSettings, supply: URLSupply) -> ConnectionMachine {
        var successor = ConnectionMachine(settings, supply: supply, sha256: sha256)
        successor.lastValues = lastValues.narrowed(to: successor.lastValues.pointers)
        successor.variables = variables
        successor.variables.narrow(to: settings.captured)
        successor.hasOpened = hasOpened
        successor.heartbeatsSent = heartbeatsSent
        successor.lastSocket = lastSocket
        successor.lastTimer = lastTimer
        successor.isWanted = isWanted
        successor.keepNetwork(of: self)
        return successor
    }

    /// Takes in one event; the actions are to be carried out in order.
    ///
    /// The time of day is for templates alone.
    package mutating func handle(
        _ event: Event,
        now: Instant,
        timeOfDay: WallTime = WallTime(millisecondsSince1970: 0),
        random: inout some RandomNumberGenerator
    ) -> [Action] {
        var step = Step(now: now, timeOfDay: timeOfDay)
        let before = place
        defer { assert(ConnectionMachine.allows(before, place), "not in the table of transitions") }
        switch event {
        case .started: started(&step)
        case .connectRequested: connectRequested(&step)
        case .disconnectRequested(let code, let reason):
            disconnectRequested(code: code, reason: reason, &step)
        case .reconnectRequested: reconnectRequested(&step)
        case .pauseRequested: pauseRequested(&step)
        case .resumeRequested: resumeRequested(&step)
        case .stopRequested: stopRequested(&step)
        case .endRequested: endRequested(&step)
        case .messageOffered: messageOffered(&step)
        case .demandChanged(let isWanted): demandChanged(isWanted, &step)
        case .networkLost: networkLost(&step, random: &random)
        case .networkRestored: networkRestored(&step)
        case .urlFound(let socket): urlFound(for: socket, &step)
        case .dialReached(let socket, let phase, let account): dialReached(socket, phase, account)
        case .socket(let socket, let event): happened(on: socket, event, &step, random: &random)
        case .frameWritten(let socket, let frame): frameWritten(on: socket, frame, &step, random: &random)
        case .writeProgressed(let socket): writeProgressed(on: socket)
        case .readProgressed(let socket, let intake, let hasGrown):
            readProgressed(on: socket, intake, hasGrown: hasGrown)
        case .timerFired(let timer): timerFired(timer, &step, random: &random)
        case .drained(let socket): drained(socket, &step, random: &random)
        case .flushed(let socket): flushed(socket)
        case .woke: woke(&step, random: &random)
        }
        outlook.standing = standing
        outlook.isReady = isReady
        outlook.uplink = uplink
        return step.actions
    }

    private mutating func happened(
        on socket: SocketID,
        _ event: SocketEvent,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        if rotation?.socket == socket { return happenedNext(event, &step, random: &random) }
        if leaving?.socket == socket { return happenedLast(event, &step) }
        switch state {
        case .connecting(let attempt) where attempt.socket == socket:
            happened(event, during: attempt, &step, random: &random)
        case .open(let session) where session.socket == socket:
            happened(event, in: session, &step, random: &random)
        case .closing(let farewell) where farewell.socket == socket:
            happened(event, during: farewell, &step, random: &random)
        case .idle, .connecting, .open, .closing, .waiting, .offline, .paused, .closed, .failed, .stopped:
            break  // A late word of a socket that is no longer ours.
        }
    }

    private mutating func timerFired(
        _ timer: TimerID,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        if rotation?.timer == timer { return rotationTimerFired(&step, random: &random) }
        if leaving?.deadline == timer { return leavingTimedOut(&step) }
        switch state {
        case .connecting(let attempt) where attempt.deadline == timer:
            attemptTimedOut(attempt, &step, random: &random)
        case .open(let session) where session.script?.deadline == timer:
            stepTimedOut(session, &step)
        case .open(let session) where session.heartbeatTimer == timer:
            heartbeatFellDue(session, &step, random: &random)
        case .open(var session) where session.stableTimer == timer:
            session.stableTimer = nil
            retries = 0
            rests = 0
            hasLasted = true
            state = .open(session)
        case .open(let session) where session.idleTimer == timer:
            idleTimerFired(session, &step)
        case .closing(let farewell) where farewell.deadline == timer:
            step.add(.drop(farewell.socket))
            ended(farewell, &step, random: &random)
        case .waiting(let pause) where pause.timer == timer:
            if isLeftAlone { state = .idle } else { dial(&step) }
        case .idle, .connecting, .open, .closing, .waiting, .offline, .paused, .closed, .failed, .stopped:
            break  // A timer that was cancelled while its report was under way.
        }
    }

    private mutating func frameWritten(
        on socket: SocketID,
        _ frame: OwnFrame,
        _ step: inout Step,
        random: inout some RandomNumberGenerator
    ) {
        if rotation?.socket == socket { return frameWrittenNext(frame, &step, random: &random) }
        if leaving?.socket == socket { return frameWrittenLast(frame, &step) }
        switch state {
        case .open(let session) where session.socket == socket:
            frameWritten(frame, in: session, &step, random: &random)
        case .closing(var farewell) where farewell.socket == socket:
            // A heartbeat that was written only now no longer matters, and no reply may follow a close frame.
            guard frame == .pong else { return }
            if let payload = farewell.pongWritten() { step.add(.sendPong(socket, payload)) }
            state = .closing(farewell)
        case .idle, .connecting, .open, .closing, .waiting, .offline, .paused, .closed, .failed, .stopped:
            break  // A late word of a socket that is no longer ours.
        }
    }

    /// Warns of what is wrong, once.
    mutating func warn(_ text: String, _ step: inout Step) {
        if warnings.insert(text).inserted { step.add(.warn(text)) }
    }

    mutating func nextSocket() -> SocketID {
        lastSocket += 1
        return SocketID(lastSocket)
    }

    mutating func startTimer(after delay: Duration, _ step: inout Step) -> TimerID {
        lastTimer += 1
        let timer = TimerID(lastTimer)
        step.add(.startTimer(timer, after: delay))
        return timer
    }
}

/// The actions that one event has brought about so far, and when it came.
struct Step {
    let now: Instant
    let timeOfDay: WallTime
    private(set) var actions: [ConnectionMachine.Action] = []

    init(now: Instant, timeOfDay: WallTime) {
        self.now = now
        self.timeOfDay = timeOfDay
    }

    mutating func add(_ action: ConnectionMachine.Action) {
        actions.append(action)
    }
}
