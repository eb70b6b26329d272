import BridgeCore
import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// Random walks through the machine; `ConnectionWorld` throws at the first thing that must not happen.
@Suite struct ConnectionWalkTests {
    /// From one state to the next; nil: the end.
    private struct Step: Hashable {
        var from: ConnectionMachine.Standing
        var to: ConnectionMachine.Standing?
    }

    /// Where a walk goes next, drawn from its own numbers so that the machine's draws do not disturb it.
    private struct Walker {
        var world: ConnectionWorld
        var dice: SeededGenerator
        var retries = RetryModel()
        private(set) var seen: Set<Step> = []

        init(seed: UInt64) {
            var dice = SeededGenerator(seed: seed)
            let supplies: [URLSupply] = [
                .listed(count: 1), .listed(count: 3), .asked(timeout: .seconds(3)),
            ]
            let supply = supplies.randomElement(using: &dice) ?? .listed(count: 1)
            world = ConnectionWorld(seed: seed, supply: supply) { settings in
                settings.connect = ConnectionSettings.Start.allCases.randomElement(using: &dice) ?? .always
                settings.idleTimeout = .seconds(Int.random(in: 0...20, using: &dice))
                settings.outbox.wakes = Bool.random(using: &dice)
                settings.heartbeat.interval = .seconds(Int.random(in: 0...30, using: &dice))
                settings.heartbeat.missLimit = Int.random(in: 0...3, using: &dice)
                settings.heartbeat.first = Bool.random(using: &dice) ? .interval : .random
                settings.heartbeat.closeCode = Bool.random(using: &dice) ? 4000 : nil
                settings.heartbeat.alive =
                    HeartbeatSettings.Life.allCases.randomElement(using: &dice) ?? .any
                let message = try? MessageTemplate(text: "{{counter}} {{last:/a}}")
                switch Int.random(in: 0..<4, using: &dice) {
                case 0: settings.heartbeat.send = message.map { .message($0) } ?? .none
                case 1:
                    settings.heartbeat.send = .none
                    settings.heartbeat.expect = .prefix("hel")
                    settings.heartbeat.reply = message
                default: break
                }
                settings.reconnect.enabled = Int.random(in: 0..<10, using: &dice) > 0
                settings.reconnect.maxRetries =
                    Bool.random(using: &dice) ? Int.random(in: 0...5, using: &dice) : nil
                settings.reconnect.resetAfter = .seconds(Int.random(in: 0...20, using: &dice))
                settings.reconnect.stopOnCloseCodes = [4000...4010]
                settings.reconnect.stopOnStatus = [403]
                settings.network = Int.random(in: 0..<10, using: &dice) > 0 ? .auto : .ignore
                Walker.addScript(to: &settings, &dice)
            }
            self.dice = dice
        }

        /// For some walks the upstream has something to say before and after the connection is ready.
        private static func addScript(to settings: inout ConnectionSettings, _ dice: inout SeededGenerator) {
            guard Bool.random(using: &dice), let text = try? MessageTemplate(text: "{{counter}} {{var:who}}"),
                let pointer = JSONPointer("/who"), let url = JSONPointer("/url")
            else { return }
            var expectation = Expectation(.prefix("{"))
            expectation.capture = Capture([("who", pointer)])
            expectation.isForwarded = Bool.random(using: &dice)
            let steps = [
                OpenStep(.send(text), when: .notCaptured("who")), OpenStep(.expect(expectation)),
                OpenStep(.send(text)), OpenStep(.send(text), when: .message(.contains(Needle("x")))),
            ]
            settings.onOpen = Array(steps.prefix(Int.random(in: 0...4, using: &dice)))
            if Bool.random(using: &dice) { settings.resumeURL = try? ResumeURL("ws://{{var:who}}/") }
            var rules = ["again", "over", "swap", "{"].map { Rule(when: .prefix($0)) }
            rules[0].action = .reconnect
            rules[1].action = .stop
            rules[2].action = .rotate(url: nil)
            rules[3].reply = text
            rules[3].action = Int.random(in: 0..<3, using: &dice) == 0 ? .rotate(url: url) : nil
            settings.rules = Array(rules.shuffled(using: &dice).prefix(Int.random(in: 0...4, using: &dice)))
        }

        mutating func step() throws {
            switch Int.random(in: 0..<20, using: &dice) {
            case 0: try tell(request)
            case 1: try tell(late)
            case 2:
                world.suspend(.seconds(Int.random(in: 0...100, using: &dice)))
                if Bool.random(using: &dice) { try tell(.woke) }
            case 3: try tell(Bool.random(using: &dice) ? .networkLost : .networkRestored)
            case 4...7: try fireNextTimer()
            case 8...9: try advanceALittle()
            case 10...18: try socketSpeaks()
            case 19: try tell(.demandChanged(isWanted: Bool.random(using: &dice)))
            default: break
            }
        }

        private mutating func tell(_ event: ConnectionMachine.Event) throws {
            let before = world.machine.standing
            let wasFinished = world.isFinished
            let actions = try world.tell(event)
            try retries.check(event, actions, before: before, world)
            let isNewDial = before == .connecting && actions.dials > 0
            let after = world.machine.standing
            if world.isFinished {
                if !wasFinished { seen.insert(Step(from: before, to: nil)) }
            } else if before != after || isNewDial {
                seen.insert(Step(from: before, to: after))
            }
        }

        private var request: ConnectionMachine.Event {
            mutating get {
                switch Int.random(in: 0..<9, using: &dice) {
                case 8: .messageOffered
                case 0: .started
                case 1, 2: .connectRequested
                case 3: .disconnectRequested(code: 1000, reason: "")
                case 4, 5: .pauseRequested
                case 6: .resumeRequested
                default: .reconnectRequested
                }
            }
        }

        /// Something an old socket or timer says after its end.
        private var late: ConnectionMachine.Event {
            mutating get {
                let socket = SocketID(UInt64.random(in: 0..<(world.lastSocket?.number ?? 1), using: &dice))
                let timer = UInt64.random(in: 0...(world.lastTimer?.number ?? 0), using: &dice)
                switch Int.random(in: 0..<4, using: &dice) {
                case 0: return .socket(socket, .plainlyOpened)
                case 1: return .socket(socket, .ended(error: nil))
                case 2:
                    return .frameWritten(
                        socket,
                        [.heartbeat, .pong, .reply].randomElement(using: &dice) ?? .pong
                    )
                default:
                    let isRunning = world.timers[.init(timer)] != nil
                    return isRunning ? .socket(socket, .refused) : .timerFired(.init(timer))
                }
            }
        }

        private mutating func fireNextTimer() throws {
            guard let due = world.nextTimer else { return }
            try advance(max(due.at - world.now, .zero))
        }

        private mutating func advanceALittle() throws {
            try advance(.milliseconds(Int.random(in: 0...3000, using: &dice)))
        }

        /// Fires timer by timer, so that the model of the retries sees each.
        private mutating func advance(_ duration: Duration) throws {
            let end = world.now + duration
            while let due = world.nextTimer, due.at <= end {
                try tell(world.takeTimer(due))
            }
            world.suspend(max(end - world.now, .zero))
        }

        private mutating func socketSpeaks() throws {
            if let draining = world.draining, Bool.random(using: &dice) {
                return try tell(.drained(draining))
            }
            let others = world.others.values.sorted { $0.id.number < $1.id.number }
            let other = Bool.random(using: &dice) ? others.randomElement(using: &dice) : nil
            guard let socket = other ?? world.socket else { return }
            switch socket.stage {
            case .asking:
                let isKnown = Int.random(in: 0..<4, using: &dice) > 0
                try tell(isKnown ? .urlFound(socket.id) : .socket(socket.id, .refused))
            case .dialling: try tell(.socket(socket.id, dialling))
            case .open, .closeSent: try tell(speech(of: socket))
            case .violated, .peerClosed, .bothClosed: try tell(.socket(socket.id, .ended(error: nil)))
            }
        }

        private var dialling: SocketEvent {
            mutating get {
                switch Int.random(in: 0..<10, using: &dice) {
                case 0: .refused
                case 1: .answered(403)
                case 2: .answered(503, retryAfter: .seconds(100))
                case 3: .ended(error: "reset")
                default: .plainlyOpened
                }
            }
        }

        private mutating func speech(of socket: ConnectionWorld.Socket) -> ConnectionMachine.Event {
            switch Int.random(in: 0..<30, using: &dice) {
            case 0:
                .socket(
                    socket.id,
                    .closeFrame(code: UInt16.random(in: 4000...4020, using: &dice), reason: "")
                )
            case 1: .socket(socket.id, .closeFrame(code: nil, reason: ""))
            case 2: .socket(socket.id, .violation(WebSocketFailure(1002, "broken")))
            case 3: .socket(socket.id, .ended(error: nil))
            case 4...9: .socket(socket.id, .ping([1]))
            case 10...12: .socket(socket.id, .pong([1]))
            case 13...14: .writeProgressed(socket.id)
            case 15: .readProgressed(socket.id, .insideMessage)
            case 16...19: .frameWritten(socket.id, .heartbeat)
            case 20...21: .frameWritten(socket.id, .pong)
            case 22: .frameWritten(socket.id, .reply)
            case 23: .frameWritten(socket.id, .script)
            case 24: .frameWritten(socket.id, .ruleReply(bytes: 1))
            default:
                .socket(
                    socket.id,
                    .text(
                        [
                            "hello", #"{"who":"a","url":"ws://b/"}"#, #"{"who":null,"x":1}"#, "again", "over",
                            "swap",
                            "swap",
                        ].randomElement(using: &dice) ?? "hello"
                    )
                )
            }
        }

        /// However the peer behaves, the process can end, and nothing follows.
        mutating func stop() throws {
            try tell(.stopRequested)
            if Bool.random(using: &dice) { try tell(.endRequested) }
            for _ in 0..<3 { try tell(request) }
            // One wait for the peer at most, beside that for a socket whose place was taken.
            for _ in 0..<2 where !world.isFinished { try fireNextTimer() }
            guard world.isFinished else { return }
            for _ in 0..<10 { try step() }
        }
    }

    /// The counter goes up by one, or starts over for a reason.
    private struct RetryModel {
        struct Wrong: Error {
            var last: Int
            var actions: [ConnectionMachine.Action]
        }

        private var last = 0
        private var mayStartOver = false
        private var readySince: Instant?

        mutating func check(
            _ event: ConnectionMachine.Event,
            _ actions: [ConnectionMachine.Action],
            before: ConnectionMachine.Standing,
            _ world: ConnectionWorld
        ) throws {
            let isRequest = [.connectRequested, .reconnectRequested, .resumeRequested].contains(event)
            if isRequest, [.closed, .failed, .paused].contains(before) { mayStartOver = true }
            if event == .messageOffered, before == .failed { mayStartOver = true }
            for action in actions {
                switch action {
                case .ready: readySince = world.now
                case .notReady:
                    let stay = readySince.map { world.now - $0 } ?? .zero
                    if stay >= world.settings.reconnect.resetAfter { mayStartOver = true }
                case .record(.reconnecting(let attempt, _)):
                    guard attempt == last + 1 || attempt == 1 && mayStartOver else {
                        throw Wrong(last: last, actions: actions)
                    }
                    last = attempt
                    mayStartOver = false
                default: break
                }
            }
        }
    }

    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func `no walk leads to the impossible`(seed: UInt64) throws {
        var walker = Walker(seed: seed)
        for _ in 0..<400 { try walker.step() }
        try walker.stop()
        #expect(walker.world.isFinished)
    }

    @Test func `the walks take every transition of the table, and no other`() throws {
        var seen: Set<Step> = []
        for seed in 1...1000 as ClosedRange<UInt64> {
            var walker = Walker(seed: seed)
            for _ in 0..<Int(seed % 200) { try walker.step() }
            try walker.stop()
            seen.formUnion(walker.seen)
        }
        let table = ConnectionMachine.transitions.map { Step(from: $0.from, to: $0.to) }
        #expect(Set(table).count == table.count, "each stands there once")
        #expect(seen.subtracting(table).isEmpty)
        #expect(Set(table).subtracting(seen).isEmpty)
    }
}
