import BridgeCore
import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// A peer that behaves in random ways for a while and then vanishes, against what must hold of its heartbeats.
struct LivenessWalk {
    private static let interval = Duration.seconds(4)

    private var world: ConnectionWorld
    private var dice: SeededGenerator
    private let limit: Int
    private let needsAnswer: Bool
    /// The payload of the newest ping.
    private var asked: [UInt8]?

    init(seed: UInt64) throws {
        var dice = SeededGenerator(seed: seed)
        let limit = Int.random(in: 1...4, using: &dice)
        let needsAnswer = Bool.random(using: &dice)
        let isText = Bool.random(using: &dice)
        world = try ConnectionWorld.open {
            $0.heartbeat.interval = Self.interval
            $0.heartbeat.missLimit = limit
            $0.heartbeat.alive = needsAnswer ? .answer : .any
            if isText, let template = try? MessageTemplate(text: "ping") {
                $0.heartbeat.send = .message(template)
            }
        }
        self.dice = dice
        self.limit = limit
        self.needsAnswer = needsAnswer
    }

    mutating func run() throws {
        for _ in 0..<Int.random(in: 0...40, using: &dice) { try live() }
        #expect(!world.records.contains(.heartbeatLost), "lost while it answered in time")
        let misses = world.records.count { if case .heartbeatMissed = $0 { true } else { false } }
        #expect(misses == 0, "missed what was answered in time")
        try vanish()
    }

    /// One heartbeat that is answered in time, in one of many ways.
    private mutating func live() throws {
        try untilAsked()
        // A slow upload in front of it.
        for _ in 0..<Int.random(in: 0...3, using: &dice) {
            try world.tell(.writeProgressed(SocketID(1)))
            try pass(.milliseconds(Int.random(in: 0...3999, using: &dice)))
        }
        try world.writeHeartbeat()
        if Bool.random(using: &dice) {
            // A large message in front of its answer.
            try world.socket(.text("small"))
            for _ in 0..<Int.random(in: 1...20, using: &dice) {
                try pass(.milliseconds(1000))
                try world.tell(.readProgressed(SocketID(1), .insideMessage))
            }
            try world.socket(.text("large"))
        } else {
            try pass(.milliseconds(Int.random(in: 0...3999, using: &dice)))
        }
        try world.socket(asked.map { .pong($0) } ?? .text("pong"))
        if !needsAnswer { try world.socket(.text("chatter")) }
    }

    /// Nothing is heard any more; what is sent is taken by the kernel.
    private mutating func vanish() throws {
        try untilAsked()
        try world.writeHeartbeat()
        let latest = world.now + Self.interval * limit + .seconds(1)
        while world.machine.standing == .open, world.now <= latest {
            try world.advance(.milliseconds(50))
            try world.writeHeartbeat()
        }
        #expect(world.machine.standing != .open, "not found lost in time")
    }

    /// Lets time pass up to the next heartbeat.
    private mutating func untilAsked() throws {
        for _ in 0..<10 where world.machine.standing == .open {
            let actions = try world.advance(.milliseconds(500))
            note(actions)
            if !actions.pings.isEmpty || !actions.beats.isEmpty { return }
        }
        Issue.record("no heartbeat in time")
    }

    /// Lets time pass; what falls due is written at once.
    private mutating func pass(_ duration: Duration) throws {
        let actions = try world.advance(duration)
        note(actions)
        if !actions.pings.isEmpty || !actions.beats.isEmpty { try world.writeHeartbeat() }
    }

    private mutating func note(_ actions: [ConnectionMachine.Action]) {
        if let payload = actions.pings.last { asked = payload }
    }
}
