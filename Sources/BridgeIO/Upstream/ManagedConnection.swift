package import BridgeCore
internal import WebSocketProtocol

/// One upstream connection that is kept: dialled, watched, dialled again, with an outbox in front of it.
///
/// The shell around `ConnectionMachine` and `Outbox`: it carries out what they say and reports what happens, and
/// decides nothing. Everything runs on the loop; the sink and the observers may be called from within any call.
package final class ManagedConnection {
    package let name: String
    /// This message was sent, dropped, or has expired; the last two are on record already.
    package var onEnd: (MessageID, MessageState) -> Void = { _, _ in }

    /// This request, by the number that `request` gave it, has come to its end.
    package var onReply: (UInt64, RequestEnd) -> Void = { _, _ in }

    let surroundings: Surroundings
    private(set) var route: UpstreamRoute {
        didSet { credentials = TLSCredentials.shared(for: route.tls) }
    }
    /// Held here, so that dials find what was read before.
    private(set) var credentials: TLSCredentials
    /// Where the URL of the present attempt is asked for.
    var question: (id: SocketID, URLQuestion)?
    /// What was last asked for and found.
    var foundURL: WebSocketURL?
    /// What can be seen of the network; nil: everything counts as reachable.
    package var network: (any NetworkView)? {
        didSet { lookAtNetwork() }
    }
    var reachability: Reachability
    var machine: ConnectionMachine
    /// Messages flow.
    package var isReady: Bool { machine.outlook.isReady }
    var outbox: Outbox {
        didSet { noteMemory() }
    }
    /// What is known to others of the memory that the outbox takes.
    var notedMemory = 0
    var schedule: SendSchedule
    /// There is a rate; every message asks, and asking the schedule copies it.
    private(set) var isRated: Bool
    var journal: MessageJournal
    var requests = RequestLedger()
    var tally: ConnectionTally
    var meter = ConnectionMeter()
    /// Carries the messages, or is dialled to do so.
    var line: Line?
    /// The one that is to take its place, and the one whose place it took, if they are there.
    var otherLines: [Line] = []
    /// No message goes out on this socket any more, and its end is to be reported.
    var draining: SocketID?
    var timers: [ConnectionMachine.TimerID: LoopTimer] = [:]
    /// Timers that fired while input that was there before may still be unread.
    var firedTimers: [ConnectionMachine.TimerID] = []
    var inputTurn: NextTurn?
    /// Wakes when the oldest message that waits has waited for too long.
    var expiry: (due: Instant, timer: LoopTimer)?
    /// Wakes when the rate lets something go that waits.
    var opening: LoopTimer?
    var isFlushScheduled = false
    /// The next flush is to look first whether something can go.
    var isFillDue = false
    /// Someone reads what comes in, for connections that are kept on demand.
    package var isFollowed = false {
        didSet { noteDemand() }
    }
    /// What comes cannot be taken for a while, and is left to the kernel; silence is not held against the peer then.
    package var isHeldBack = false {
        didSet { if isHeldBack != oldValue { for line in lines { line.socket.isHeldBack = isHeldBack } } }
    }
    var random = SystemRandomNumberGenerator()
    private static let noTime = WallTime(millisecondsSince1970: 0)
    /// What has happened and the machine has not been told yet, oldest first.
    private var pending: [ConnectionMachine.Event] = []
    private var isTelling = false
    private var onFinished: () -> Void = {}
    /// What the connection is to become once it has ended.
    private var successor: (route: UpstreamRoute, settings: ConnectionSettings)?
    private var wishes = PendingWishes()

    /// Does nothing before `start`; goes on with what is `stored`, if there is a store.
    package init(
        name: String,
        route: UpstreamRoute,
        settings: ConnectionSettings,
        surroundings: Surroundings,
        stored: StoredConnection? = nil
    ) {
        self.name = name
        self.route = route
        reachability = route.reachability
        credentials = TLSCredentials.shared(for: route.tls)
        self.surroundings = surroundings
        machine = ConnectionMachine(settings, supply: route.source.supply, sha256: Digests.sha256)
        if let stored {
            let now = ClockReading(instant: surroundings.loop.now, time: surroundings.wallClock())
            let epoch = surroundings.outbox.epoch
            outbox = Outbox(settings.outbox, epoch: epoch, restoring: stored, now: now)
            journal = MessageJournal(restoring: stored)
        } else {
            outbox = Outbox(settings.outbox, as: surroundings.outbox)
            journal = MessageJournal()
        }
        schedule = SendSchedule(rate: settings.rate)
        isRated = schedule.isRated
        tally = ConnectionTally(at: surroundings.wallClock())
        noteMemory()
    }

    // MARK: What users and the process ask for

    /// Dials, if the settings say so; call it once.
    package func start() {
        lookAtNetwork()
        watchAge()
        noteDemand()
        tell(.started)
    }

    /// Brings the connection up, from whatever state; idempotent.
    package func connect() { ask(.connectRequested) }

    /// Brings it down and keeps it down; idempotent.
    ///
    /// The code must be one that may be sent (RFC 6455 §7.4), the reason have at most 123 bytes.
    package func disconnect(code: UInt16, reason: String) {
        ask(.disconnectRequested(code: code, reason: reason))
    }

    /// Drops the socket, if there is one, and dials now.
    package func reconnect() { ask(.reconnectRequested) }

    /// Closes the connection for a while, in which the outbox fills; idempotent.
    package func pause() { ask(.pauseRequested) }

    /// Ends the pause; idempotent.
    package func resume() { ask(.resumeRequested) }

    /// What is asked for while the connection makes way for other settings is meant for these.
    private func ask(_ wish: ConnectionMachine.Event) {
        guard successor != nil else { return tell(wish) }
        wishes.add(wish)
        // Who wants a fresh socket does not want to wait for the end of this one.
        if wish == .reconnectRequested { tell(.endRequested) }
    }

    /// The process was stopped, or the machine slept: the peer is asked whether it is still there.
    package func wake() {
        noteProgress()
        tell(.woke)
    }

    /// Writes what the upstream takes, closes it with 1001 and ends; `onFinished` is called once, perhaps at once.
    package func stop(onFinished: @escaping () -> Void) {
        self.onFinished = onFinished
        successor = nil
        // The peer's close frame may stand behind what was not read.
        isHeldBack = false
        fill(upTo: .max)
        tell(.stopRequested)
    }

    /// Ends at once what `stop` began, since its place is needed.
    package func end() { tell(.endRequested) }

    /// Ends the connection, with 1001 if it is open, and begins anew with other settings.
    ///
    /// What waits in the outbox is kept, and messages are taken all the time. Another call before that is done
    /// wins over this one.
    package func replace(route: UpstreamRoute, settings: ConnectionSettings) {
        successor = (route, settings)
        tell(.stopRequested)
    }

    /// What the connection does with messages at the moment.
    var uplink: Outbox.Uplink { successor == nil ? machine.outlook.uplink : wishes.shuts ? .shut : .away }

    // MARK: The machine

    /// Tells the machine what happened, after all that happened before, and carries out what it says.
    ///
    /// What the actions bring about at once queues up here, so that the machine is never reentered.
    func tell(_ event: ConnectionMachine.Event) {
        pending.append(event)
        guard !isTelling else { return }
        isTelling = true
        var next = 0
        while next < pending.count {
            handle(pending[next])
            next += 1
        }
        pending.removeAll(keepingCapacity: pending.capacity <= 1024)
        isTelling = false
    }

    private func handle(_ event: ConnectionMachine.Event) {
        if machine.outlook.standing == .connecting, let line { noteDial(of: line) }
        for line in otherLines { noteDial(of: line) }
        let actions = machine.handle(
            event,
            now: surroundings.loop.now,
            timeOfDay: machine.needsTimeOfDay ? surroundings.wallClock() : ManagedConnection.noTime,
            random: &random
        )
        if case .socket(_, .pong) = event { meter.look(at: machine.pulse) }
        let standing = machine.outlook.standing
        if standing != tally.standing { tally.stands(standing, at: surroundings.wallClock()) }
        for action in actions { carryOut(action) }
    }

    /// How far an attempt has got, before the machine may judge it.
    private func noteDial(of line: Line) {
        let reached = ConnectionMachine.Event.dialReached(
            line.id,
            line.socket.dialPhase,
            account: line.socket.dialAccount
        )
        _ = machine.handle(reached, now: surroundings.loop.now, random: &random)
    }

    private func carryOut(_ action: ConnectionMachine.Action) {
        switch action {
        case .askForURL(let id): ask(for: id)
        case .dial(let id): dial(id)
        case .dialElsewhere(let id, let url): dial(id, elsewhere: url)
        case .sendClose(let id, let code, let reason): sendClose(on: id, code: code, reason: reason)
        case .sendPing(let id, let payload): goNext(.ping(id, payload))
        case .sendHeartbeat(let id, let message): goNext(.own(id, message, .heartbeat))
        case .sendReply(let id, let message, let frame): goNext(.own(id, message, frame))
        case .sendScript(let id, let message): goNext(.own(id, message, .script))
        case .sendPong(let id, let payload): sendPong(payload, on: id)
        case .drain(let id): drain(id)
        case .undrain: undrain()
        case .adopt(let id): adopt(id)
        case .drop(let id): drop(id)
        case .startTimer(let id, let delay): startTimer(id, after: delay)
        case .cancelTimer(let id): cancelTimer(id)
        case .record(let event): record(event)
        case .warn(let text): surroundings.sink.remarked(.shortcoming(text))
        case .sayFinal(let text): surroundings.sink.remarked(.final(text))
        case .deliver(let message, let topic, let id): deliver(message, topic, from: id)
        case .passOver(let message, let isAnswer, let id):
            if isAnswer { meter.look(at: machine.pulse) }
            answer(by: message, nil, on: id, isNext: !isAnswer)
        case .ready: fill()
        case .notReady: undrain()
        case .returnInFlight(let code): returnInFlight(closeCode: code)
        case .finished: finish()
        }
    }

    func record(_ event: Lifecycle) {
        tally.happened(event, at: surroundings.wallClock())
        surroundings.sink.happened(event)
    }

    private func deliver(_ message: Message, _ topic: String?, from socket: SocketID) {
        tally.received(bytes: message.bytes.count)
        let id = surroundings.sink.received(message, topic: topic)
        if !requests.isEmpty { answer(by: message, id, on: socket) }
    }

    private func finish() {
        expiry = nil
        opening = nil
        if let successor {
            self.successor = nil
            route = successor.route
            foundURL = nil
            machine = machine.successor(successor.settings, supply: route.source.supply)
            outbox.settings = successor.settings.outbox
            schedule.change(rate: successor.settings.rate)
            isRated = schedule.isRated
            reachability = route.reachability
            lookAtNetwork()
            watchAge()
            // Before it starts: it may not have to.
            for wish in wishes.take() { tell(wish) }
            noteDemand()
            tell(.started)
            return
        }
        loseRequests(outbox.dropRequests(thatWereOut: false))
        // What is left in it will never be sent.
        outbox = Outbox(outbox.settings, as: surroundings.outbox)
        onFinished()
        onFinished = {}
    }
}
