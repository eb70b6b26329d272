import BridgeCore
import WebSocketProtocol
import WebSocketTestSupport

/// A small model of what surrounds a connection machine: sockets, timers, a log, a virtual clock.
///
/// It carries out every action and throws when the machine asks for the impossible, so each test of the machine
/// is a test of these rules as well.
struct ConnectionWorld {
    enum Impossible: Error {
        case action(ConnectionMachine.Action, String)
        case state(ConnectionMachine.Standing, String)
    }

    /// What a socket has come to.
    enum Stage: Equatable {
        case asking, dialling, open, violated, peerClosed, closeSent, bothClosed

        var canSend: Bool { self == .open }
        var isOpen: Bool { self != .asking && self != .dialling }
    }

    struct Socket {
        let id: SocketID
        var stage = Stage.dialling
    }

    let settings: ConnectionSettings
    private(set) var machine: ConnectionMachine
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    private(set) var random: SeededGenerator
    /// The one that carries the messages.
    private(set) var socket: Socket?
    /// The one that is to take its place, and the one whose place it took.
    private(set) var others: [SocketID: Socket] = [:]
    private(set) var timers: [ConnectionMachine.TimerID: Instant] = [:]
    private(set) var records: [Lifecycle] = []
    private(set) var delivered: [Message] = []
    private(set) var topics: [String?] = []
    private(set) var passedOver: [Message] = []
    private(set) var said: [Message] = []
    private(set) var warnings: [String] = []
    private(set) var lastWords: [String] = []
    private(set) var draining: SocketID?
    private(set) var isReady = false
    private(set) var isFinished = false
    private(set) var lastSocket: SocketID?
    private(set) var lastTimer: ConnectionMachine.TimerID?
    private(set) var isNetworkLost = false
    private var isAttempting = false
    /// A user asked for the connection in this step, or while the last one closed.
    private var isAskedFor = false
    private var isOpenOnRecord = false
    private var isSocketContentOut = false

    init(
        seed: UInt64 = 1,
        supply: URLSupply = .listed(count: 1),
        _ configure: (inout ConnectionSettings) -> Void = { _ in }
    ) {
        var settings = ConnectionSettings()
        configure(&settings)
        self.settings = settings
        machine = ConnectionMachine(settings, supply: supply, sha256: { $0 })
        random = SeededGenerator(seed: seed)
    }

    /// Hands the machine one event and carries out what it answers.
    @discardableResult
    mutating func tell(_ event: ConnectionMachine.Event) throws -> [ConnectionMachine.Action] {
        note(event)
        let actions = machine.handle(event, now: now, timeOfDay: timeOfDay, random: &random)
        for action in actions {
            if isFinished { throw Impossible.action(action, "nothing follows the end") }
            try carryOut(action)
        }
        try checkWaits()
        return actions
    }

    private var timeOfDay: WallTime {
        WallTime(millisecondsSince1970: (now.nanoseconds - 1_000_000_000) / 1_000_000)
    }

    /// The live socket, or the last one.
    var id: SocketID { socket?.id ?? lastSocket ?? SocketID(0) }

    /// Hands it an event of another socket than that.
    @discardableResult
    mutating func other(_ event: SocketEvent) throws -> [ConnectionMachine.Action] {
        guard let other = others.keys.max(by: { $0.number < $1.number }) else { return [] }
        return try tell(.socket(other, event))
    }

    /// Hands it an event of the live socket.
    @discardableResult
    mutating func socket(_ event: SocketEvent) throws -> [ConnectionMachine.Action] {
        guard let socket else { return [] }
        return try tell(.socket(socket.id, event))
    }

    /// Lets time pass without any timer firing, as a suspended process sees it.
    mutating func suspend(_ duration: Duration) {
        now += duration
    }

    /// Lets time pass, firing each timer just when it is due; returns all actions.
    @discardableResult
    mutating func advance(_ duration: Duration) throws -> [ConnectionMachine.Action] {
        let end = now + duration
        var actions: [ConnectionMachine.Action] = []
        while let due = nextTimer, due.at <= end {
            actions += try tell(takeTimer(due))
        }
        now = max(now, end)
        return actions
    }

    /// The report of a timer that is due, which does not run any more.
    mutating func takeTimer(_ due: (id: ConnectionMachine.TimerID, at: Instant)) -> ConnectionMachine.Event {
        now = max(now, due.at)
        timers[due.id] = nil
        return .timerFired(due.id)
    }

    var nextTimer: (id: ConnectionMachine.TimerID, at: Instant)? {
        timers.min { ($0.value, $0.key.number) < ($1.value, $1.key.number) }.map { ($0.key, $0.value) }
    }
}

extension ConnectionWorld {
    /// What the world knows of an event that it is about to report.
    private mutating func note(_ event: ConnectionMachine.Event) {
        noteRequest(event)
        guard case .socket(let id, let event) = event, let stage = self[id]?.stage else { return }
        switch event {
        case .opened: self[id]?.stage = .open
        case .failed, .ended: self[id] = nil
        case .closeFrame: self[id]?.stage = stage == .closeSent ? .bothClosed : .peerClosed
        case .violation: self[id]?.stage = stage == .closeSent ? .bothClosed : .violated
        case .message, .ping, .pong, .written: break
        }
    }

    private subscript(id: SocketID) -> Socket? {
        get { socket?.id == id ? socket : others[id] }
        set { if socket?.id == id { socket = newValue } else { others[id] = newValue } }
    }

    private mutating func noteRequest(_ event: ConnectionMachine.Event) {
        switch event {
        case .connectRequested, .reconnectRequested: isAskedFor = true
        // It says that things are to go on, and perhaps that the socket that closes is wanted anew.
        case .resumeRequested: isAskedFor = machine.standing == .closing
        case .socket, .timerFired, .networkLost, .networkRestored, .messageOffered, .demandChanged, .started:
            isAskedFor = isAskedFor && machine.standing == .closing
        case .disconnectRequested, .pauseRequested, .stopRequested, .endRequested:
            isAskedFor = false
        case .urlFound, .dialReached, .frameWritten, .writeProgressed, .readProgressed, .drained, .flushed,
            .woke:
            break
        }
    }

    private mutating func carryOut(_ action: ConnectionMachine.Action) throws {
        switch action {
        case .askForURL(let id):
            try dial(id, action)
            self[id]?.stage = .asking
        case .dial(let id):
            if self[id]?.stage == .asking {
                self[id]?.stage = .dialling
            } else {
                try dial(id, action)
            }
        case .dialElsewhere(let id, _): try dial(id, action)
        case .drop(let id):
            guard self[id] != nil else { throw Impossible.action(action, "no such socket") }
            self[id] = nil
        case .sendClose(let id, _, _): try sendClose(on: id, action)
        case .sendPing(let id, _), .sendHeartbeat(let id, _):
            guard socket?.id == id, socket?.stage == .open else {
                throw Impossible.action(action, "not open")
            }
        case .sendReply(let id, _, _):
            guard self[id]?.stage == .open else { throw Impossible.action(action, "not open") }
        case .sendScript(let id, let message):
            guard self[id]?.stage == .open, socket?.id != id || !isReady else {
                throw Impossible.action(action, "not open, or ready")
            }
            said.append(message)
        case .sendPong(let id, _):
            guard self[id]?.stage == .open || self[id]?.stage == .closeSent else {
                throw Impossible.action(action, "not open, or closed by the peer")
            }
        case .drain(let id):
            guard socket?.id == id, isReady, draining == nil else {
                throw Impossible.action(action, "not ready")
            }
            draining = id
        case .undrain(let id):
            guard draining == id else { throw Impossible.action(action, "it does not drain") }
            draining = nil
        case .adopt(let id): try adopt(id, action)
        case .startTimer(let id, let delay): try startTimer(id, delay, action)
        case .cancelTimer(let id):
            guard timers.removeValue(forKey: id) != nil else {
                throw Impossible.action(action, "it does not run")
            }
        case .record(let event): try record(event, action)
        case .deliver(let message, let topic, _):
            delivered.append(message)
            topics.append(topic)
        case .warn(let text): warnings.append(text)
        case .sayFinal(let text): lastWords.append(text)
        case .passOver(let message, _, _): passedOver.append(message)
        case .ready:
            guard socket?.stage == .open, !isReady else {
                throw Impossible.action(action, "not open, or again")
            }
            isReady = true
        case .notReady:
            guard isOpenOnRecord else { throw Impossible.action(action, "it was not open") }
            isReady = false
            draining = nil
        case .returnInFlight:
            guard isSocketContentOut, socket == nil else { throw Impossible.action(action, "a socket lives") }
            isSocketContentOut = false
        case .finished:
            guard socket == nil, others.isEmpty, timers.isEmpty else {
                throw Impossible.action(action, "something is left")
            }
            isFinished = true
        }
    }

    private mutating func dial(_ id: SocketID, _ action: ConnectionMachine.Action) throws {
        guard socket == nil || isReady && others.count <= 1 else {
            throw Impossible.action(action, "another socket lives")
        }
        guard !isNetworkLost || isAskedFor || socket != nil else {
            throw Impossible.action(action, "without a network")
        }
        guard id.number > lastSocket?.number ?? 0 else { throw Impossible.action(action, "an old id") }
        lastSocket = id
        guard socket == nil else {
            others[id] = Socket(id: id)
            return
        }
        guard !isSocketContentOut else { throw Impossible.action(action, "in flight on no socket") }
        socket = Socket(id: id)
    }

    /// The socket that was to take over does.
    private mutating func adopt(_ id: SocketID, _ action: ConnectionMachine.Action) throws {
        guard let next = others.removeValue(forKey: id) else {
            throw Impossible.action(action, "no such socket")
        }
        if let socket {
            guard socket.stage == .closeSent else { throw Impossible.action(action, "the old one is open") }
            others[socket.id] = socket
        }
        socket = next
        draining = nil
    }

    private mutating func sendClose(on id: SocketID, _ action: ConnectionMachine.Action) throws {
        switch self[id]?.stage {
        case .open: self[id]?.stage = .closeSent
        case .peerClosed, .violated: self[id]?.stage = .bothClosed
        case .asking, .dialling, .closeSent, .bothClosed, nil:
            throw Impossible.action(action, "not open, or again")
        }
    }

    private mutating func startTimer(
        _ id: ConnectionMachine.TimerID,
        _ delay: Duration,
        _ action: ConnectionMachine.Action
    ) throws {
        guard id.number > lastTimer?.number ?? 0 else { throw Impossible.action(action, "an old id") }
        guard delay >= .zero else { throw Impossible.action(action, "in the past") }
        timers[id] = now + delay
        lastTimer = id
    }

    private mutating func record(_ event: Lifecycle, _ action: ConnectionMachine.Action) throws {
        records.append(event)
        switch event {
        case .connecting:
            guard !isAttempting, !isOpenOnRecord else { throw Impossible.action(action, "out of turn") }
            isAttempting = true
        case .open:
            guard isAttempting, !isOpenOnRecord else { throw Impossible.action(action, "out of turn") }
            isAttempting = false
            isOpenOnRecord = true
            isSocketContentOut = true
        case .failed:
            guard isAttempting || isOpenOnRecord else {
                throw Impossible.action(action, "nothing was attempted")
            }
            isAttempting = false
        case .closed:
            guard isOpenOnRecord, socket == nil else { throw Impossible.action(action, "out of turn") }
            isOpenOnRecord = false
        case .ready, .heartbeatMissed, .heartbeatLost, .rotated:
            guard isOpenOnRecord else { throw Impossible.action(action, "not open") }
        case .networkLost, .networkRestored:
            guard isNetworkLost == (event == .networkRestored) else {
                throw Impossible.action(action, "out of turn")
            }
            isNetworkLost.toggle()
        case .reconnecting, .gaveUp, .paused, .resumed, .messageExpired, .messageDropped:
            guard !isOpenOnRecord, !isAttempting else { throw Impossible.action(action, "not down") }
        }
    }

    /// Timers of the live socket, or of none: each other one has one.
    private var waits: Int { timers.count - others.count }

    /// Whatever the machine waits for has a deadline, and nothing is left where it waits for nothing.
    private func checkWaits() throws {
        let standing = machine.standing
        switch standing {
        case .connecting, .closing:
            guard socket != nil, waits == 1 else { throw Impossible.state(standing, "no deadline") }
        case .waiting:
            guard socket == nil, waits == 1 else { throw Impossible.state(standing, "no deadline") }
            guard !isNetworkLost else { throw Impossible.state(standing, "for a dial without a network") }
        case .offline:
            guard socket == nil, waits == 0 else { throw Impossible.state(standing, "something is left") }
            guard isNetworkLost else { throw Impossible.state(standing, "there is a network") }
        case .open:
            guard socket?.stage == .open, isReady || waits > 0 else {
                throw Impossible.state(standing, "not open, or no deadline")
            }
        case .idle, .paused, .closed, .failed:
            guard socket == nil, waits == 0 else { throw Impossible.state(standing, "something is left") }
        }
        guard waits >= 0 else { throw Impossible.state(standing, "no deadline for another socket") }
        guard isReady == machine.isReady else { throw Impossible.state(standing, "ready, or is it not?") }
        guard machine.outlook.standing == standing, machine.outlook.uplink == machine.uplink,
            machine.outlook.isReady == isReady
        else { throw Impossible.state(standing, "and its outlook is another") }
    }
}
