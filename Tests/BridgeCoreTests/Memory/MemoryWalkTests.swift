import BridgeCore
import Testing
import WebSocketProtocol
import WebSocketTestSupport

@Suite struct `Memory in a random walk` {
    @Test(arguments: 0..<60 as Range<UInt64>)
    func `is never exceeded, and the oldest of the largest goes first`(seed: UInt64) throws {
        var walk = try MemoryWalk(seed: seed)
        for _ in 0..<600 { try walk.step() }
        #expect(walk.complaints == [], "seed \(seed)")
        #expect(walk.evictions > 0 && walk.refusals + walk.drops > 0, "seed \(seed)")
    }
}

/// Histories, outboxes and subscribers who grow and shrink as they like, and what must be so after each step.
private struct MemoryWalk {
    private var random: SeededGenerator
    private var log: EventLog
    private var connections: [ConnectionIndex] = []
    private var outboxes: [Outbox] = []
    private var budget = MemoryBudget(bound: 64 << 10)
    /// Sizes of all records of each connection, and how many of the oldest are gone.
    private var recorded: [[Int]] = []
    private var gone: [Int] = []
    /// The numbers of what waits in each outbox, in order.
    private var waiting: [[UInt64]] = []
    private let now = Instant(nanoseconds: 0)
    private(set) var evictions = 0
    private(set) var refusals = 0
    private(set) var drops = 0
    private(set) var complaints: [String] = []

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        log = EventLog(epoch: Epoch(bits: seed))
        for number in 0..<Int.random(in: 1...6, using: &random) {
            let index = log.register("c\(number)", limits: HistoryLimits())
            connections.append(try #require(index))
            var settings = OutboxSettings()
            settings.overflow = Bool.random(using: &random) ? .reject : .dropOldest
            outboxes.append(Outbox(settings, as: OutboxID(epoch: Epoch(bits: 1), number: UInt64(number) + 1)))
            recorded.append([])
            gone.append(0)
            waiting.append([])
        }
    }

    mutating func step() throws {
        // The first one has most of the traffic.
        let one = Bool.random(using: &random) ? 0 : Int.random(in: connections.indices, using: &random)
        let size =
            Int.random(in: 0..<10, using: &random) == 0 ? 6000 : Int.random(in: 0...700, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<10: record(size, on: one)
        case 10..<15: try send(size, on: one)
        case 15..<18: try write(one)
        case 18: budget.pages = Int.random(in: 0...budget.pageLimit, using: &random)
        default: budget.bound = Int.random(in: 40...100, using: &random) << 10
        }
        fit()
        check()
    }

    private mutating func record(_ size: Int, on one: Int) {
        let payload = Message(.binary, [UInt8](repeating: 0, count: size))
        log.append(.message(payload), of: connections[one], at: WallTime(millisecondsSince1970: 0))
        recorded[one].append(size)
    }

    private mutating func send(_ size: Int, on one: Int) throws {
        let message = Message(.binary, [UInt8](repeating: 0, count: size))
        let room = budget.outboxRoom
        do throws(OutboxError) {
            let receipt = try outboxes[one].append([message], uplink: .away, room: room, now: now)
            let dropped = receipt.dropped.map(\.number)
            demand(dropped == Array(waiting[one].prefix(dropped.count)), "not the oldest was dropped")
            waiting[one].removeFirst(dropped.count)
            drops += dropped.count
            waiting[one] += receipt.ids.map(\.number)
        } catch {
            demand(error == .full(.memory), "refused as \(error)")
            demand(outboxMemory + size + 1000 > budget.outboxLimit, "refused although there was room")
            refusals += 1
        }
        budget.outboxes = outboxMemory
    }

    /// The upstream takes what is next.
    private mutating func write(_ one: Int) throws {
        guard let next = outboxes[one].next() else {
            return demand(waiting[one].isEmpty, "a message is lost")
        }
        demand(next.id.number == waiting[one].removeFirst(), "out of order")
        let written = outboxes[one].written(next.id)
        _ = try #require(written)
        budget.outboxes = outboxMemory
    }

    /// What the hub does after each change.
    private mutating func fit() {
        guard log.memoryBytes > budget.historyLimit else { return }
        let before = memories
        let excess = log.memoryBytes - budget.historyTarget
        log.shrink(to: budget.historyTarget)
        let after = memories
        // What gives at a time, and one record more.
        let grain = excess / 8 + 1 + 6000 + Record.overhead
        demand(log.memoryBytes + grain > budget.historyTarget, "more was evicted than had to be")
        for giver in after.indices where after[giver] < before[giver] {
            demand(after[giver] + grain >= after.max() ?? 0, "a smaller history gave")
        }
    }

    private var memories: [Int] {
        connections.map { connection in
            let status = log.status(of: connection)
            return status.bytes + status.messages * Record.overhead
        }
    }

    private var outboxMemory: Int { outboxes.reduce(0) { $0 + $1.memoryBytes } }

    private mutating func check() {
        let total =
            log.memoryBytes + outboxMemory + budget.pages + budget.feedLimit(histories: log.memoryBytes)
        // Only a bound that was lowered leaves outboxes with more, which is theirs until it is sent.
        let isLeft = outboxMemory > budget.outboxLimit || budget.pages > budget.pageLimit
        demand(total <= budget.bound || (isLeft && log.memoryBytes <= budget.historyLimit), "\(total) bytes")
        demand(log.memoryBytes == memories.reduce(0, +), "the count is wrong")
        for (one, connection) in connections.enumerated() {
            let kept = log.status(of: connection).messages
            let lost = recorded[one].count - kept
            demand(lost >= gone[one], "an evicted record came back")
            evictions += lost - gone[one]
            gone[one] = lost
            demand(
                log.status(of: connection).bytes == recorded[one].suffix(kept).reduce(0, +),
                "not the oldest went"
            )
            demand(outboxes[one].content.map(\.id.number) == waiting[one], "the outbox is out of order")
        }
    }

    private mutating func demand(_ isRight: Bool, _ complaint: String) {
        if !isRight { complaints.append("\(log.headSequence): \(complaint)") }
    }
}
