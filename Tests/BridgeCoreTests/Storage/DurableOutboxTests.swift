import BridgeCore
import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// An outbox whose messages are stored first.
@Suite struct `Durable outbox` {
    private static let epoch = Epoch(bits: 7)
    private static let outbox = OutboxID(epoch: epoch, number: 1)
    private let start = Instant(nanoseconds: 0)

    private func outbox(_ configure: (inout OutboxSettings) -> Void = { _ in }) -> Outbox {
        var settings = OutboxSettings()
        configure(&settings)
        return restored(StoredConnection(id: StoredConnectionID(number: 1), name: "a"), settings)
    }

    private func restored(_ stored: StoredConnection, _ settings: OutboxSettings = OutboxSettings()) -> Outbox
    {
        let now = ClockReading(instant: start, time: WallTime(millisecondsSince1970: 0))
        return Outbox(settings, epoch: Self.epoch, restoring: stored, now: now)
    }

    private func append(_ count: Int, to outbox: inout Outbox) throws -> Range<UInt64> {
        let messages = (0..<count).map { _ in Message(.text, [1]) }
        return try outbox.append(messages, uplink: .ready, now: start).ids.numbers
    }

    private func handedOut(_ outbox: inout Outbox) -> [UInt64] {
        var numbers: [UInt64] = []
        while let departure = outbox.next() { numbers.append(departure.id.number) }
        return numbers
    }

    @Test func `hands out nothing that is not safe on disk`() throws {
        var outbox = outbox()
        #expect(try append(3, to: &outbox) == 1..<4)
        #expect(handedOut(&outbox) == [])
        outbox.stored(through: 2)
        #expect(handedOut(&outbox) == [1, 2])
        outbox.stored(through: 3)
        #expect(handedOut(&outbox) == [3])
    }

    @Test func `hands out what was in flight again at once`() throws {
        var outbox = outbox()
        _ = try append(2, to: &outbox)
        outbox.stored(through: 1)
        #expect(handedOut(&outbox) == [1])
        _ = outbox.connectionLost(closeCode: nil)
        #expect(handedOut(&outbox) == [1])
    }

    @Test func `takes out what could not be stored, and nothing else`() throws {
        var outbox = outbox()
        let empty = outbox.memoryBytes
        for count in [2, 3, 1] { _ = try append(count, to: &outbox) }
        #expect(outbox.withdraw(3..<6).map(\.number) == [3, 4, 5])
        #expect(outbox.content.map(\.id.number) == [1, 2, 6])
        #expect(outbox.withdraw(3..<6) == [])
        outbox.stored(through: 6)
        #expect(handedOut(&outbox) == [1, 2, 6])
        _ = outbox.confirmed(through: 6)
        #expect(outbox.memoryBytes == empty)
        // Whoever was told of a number was told of no other message.
        #expect(try append(1, to: &outbox) == 7..<8)
    }

    @Test func `changes nothing where the store takes nothing`() throws {
        var outbox = outbox { settings in
            settings.maxMessages = 2
            settings.overflow = .dropOldest
        }
        _ = try append(2, to: &outbox)
        var asked: Range<UInt64>?
        #expect(throws: OutboxError.unstorable) {
            _ = try outbox.append([Message(.text, [1])], uplink: .ready, now: start) {
                (numbers) throws(OutboxError) in
                asked = numbers
                throw .unstorable
            }
        }
        #expect(asked == 3..<4)
        #expect(outbox.content.map(\.id.number) == [1, 2])
        #expect(try append(1, to: &outbox) == 3..<4)
    }

    /// One that holds two messages, 1 and 2, and drops the oldest for others.
    private func full(_ configure: (inout OutboxSettings) -> Void = { _ in }) throws -> Outbox {
        var outbox = outbox { settings in
            settings.maxMessages = 2
            settings.overflow = .dropOldest
            configure(&settings)
        }
        _ = try append(2, to: &outbox)
        outbox.stored(through: 2)
        return outbox
    }

    /// Appends messages, which the store takes; returns their numbers.
    private func offer(_ count: Int, to outbox: inout Outbox) throws -> Range<UInt64> {
        let messages = (0..<count).map { _ in Message(.text, [1]) }
        let receipt = try outbox.append(messages, uplink: .away, now: start) { _ in }
        #expect(receipt.dropped == [])
        return receipt.ids.numbers
    }

    @Test func `drops nothing for what is not stored in the end`() throws {
        var outbox = try full()
        #expect(outbox.withdraw(try offer(1, to: &outbox)).map(\.number) == [3])
        #expect(outbox.content.map(\.id.number) == [1, 2])
    }

    @Test func `drops the oldest once those are stored that need their room`() throws {
        var outbox = try full()
        let (one, two) = (try offer(1, to: &outbox), try offer(2, to: &outbox))
        outbox.stored(through: 3)
        // The other two may still not be stored.
        #expect(outbox.makeRoom(for: one).map(\.number) == [1])
        outbox.stored(through: 5)
        #expect(outbox.makeRoom(for: two).map(\.number) == [2, 3])
        #expect(outbox.content.map(\.id.number) == [4, 5])
    }

    @Test func `drops by bytes and by memory as well`() throws {
        var outbox = try full { settings in
            settings.maxMessages = 100
            settings.maxBytes = 2
        }
        let first = try offer(1, to: &outbox)
        #expect(outbox.makeRoom(for: first).map(\.number) == [1])
        outbox.settings.maxBytes = 100
        let second = try offer(1, to: &outbox)
        let room = OutboxRoom(total: .max, free: 0, excess: 1)
        #expect(outbox.makeRoom(for: second, within: room).map(\.number) == [2])
        // No more than they need, whoever has the rest.
        let excessive = OutboxRoom(total: .max, free: 0, excess: 100_000)
        #expect(outbox.makeRoom(for: second, within: excessive).map(\.number) == [3])
        #expect(outbox.content.map(\.id.number) == [4])
    }

    @Test func `does not drop what was just stored, though others went out meanwhile`() throws {
        var outbox = try full()
        let numbers = try offer(1, to: &outbox)
        #expect(handedOut(&outbox) == [1, 2])
        outbox.stored(through: 3)
        #expect(outbox.makeRoom(for: numbers) == [])
        #expect(handedOut(&outbox) == [3])
    }

    @Test func `does not ask the store about what it refuses`() throws {
        var outbox = outbox { $0.maxMessages = 1 }
        _ = try append(1, to: &outbox)
        #expect(throws: OutboxError.full(.messages(limit: 1))) {
            _ = try outbox.append([Message(.text, [1])], uplink: .ready, now: start) { _ in
                Issue.record("it was asked")
            }
        }
    }

    // MARK: Walks

    /// A store of which only some is on disk: changes get there in their order, and some are refused.
    private struct Disk {
        enum Change {
            case offer([StoredMessage])
            case ended(UInt64, MessageState)
        }

        var pending: [Change] = []
        var connection = StoredConnection(id: StoredConnectionID(number: 1), name: "a")

        mutating func write(_ change: Change) {
            switch change {
            case .offer(let messages):
                connection.messages += messages
                connection.lastMessage = messages.last?.number ?? connection.lastMessage
            case .ended(let number, let state):
                guard let place = connection.messages.firstIndex(where: { $0.number == number }) else {
                    return
                }
                let message = connection.messages.remove(at: place)
                connection.outcomes.append(
                    StoredOutcome(number: number, queuedAt: message.queuedAt, state: state)
                )
            }
        }
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `loses nothing that was accepted, and sends only what was in flight again`(seed: UInt64) throws {
        var dice = SeededGenerator(seed: seed)
        var settings = OutboxSettings()
        settings.confirm = Bool.random(using: &dice) ? .written : .pong
        var disk = Disk()
        var outbox = restored(disk.connection, settings)
        var accepted: Set<UInt64> = []
        var written: [UInt64] = []
        var inFlight: [UInt64] = []

        func end(_ numbers: [UInt64]) {
            for number in numbers {
                disk.pending.append(.ended(number, .sent(at: WallTime(millisecondsSince1970: 0))))
            }
        }
        func write(_ number: UInt64) {
            written.append(number)
            inFlight.removeAll { $0 == number }
            let id = MessageID(outbox: Self.outbox, number: number)
            if outbox.written(id) != nil { end([number]) }
        }

        for _ in 0..<400 {
            switch Int.random(in: 0..<12, using: &dice) {
            case 0...2:
                let messages = (0..<Int.random(in: 1...3, using: &dice)).map { _ in Message(.text, [1]) }
                _ = try? outbox.append(messages, uplink: .ready, now: start) {
                    (numbers) throws(OutboxError) in
                    guard Int.random(in: 0..<8, using: &dice) > 0 else { throw .unstorable }
                    let time = WallTime(millisecondsSince1970: 0)
                    disk.pending.append(
                        .offer(
                            zip(numbers, messages).map {
                                StoredMessage(number: $0, queuedAt: time, message: $1)
                            }
                        )
                    )
                }
            case 3...5:
                guard !disk.pending.isEmpty else { continue }
                let change = disk.pending.removeFirst()
                guard case .offer(let messages) = change else {
                    disk.write(change)
                    continue
                }
                let numbers = messages[0].number..<messages[0].number + UInt64(messages.count)
                if Int.random(in: 0..<6, using: &dice) > 0 {
                    disk.write(change)
                    accepted.formUnion(numbers)
                    outbox.stored(through: numbers.upperBound - 1)
                } else {
                    #expect(outbox.withdraw(numbers).map(\.number) == Array(numbers))
                }
            case 6...7:
                guard let departure = outbox.next() else { continue }
                #expect(accepted.contains(departure.id.number))
                inFlight.append(departure.id.number)
            case 8...9:
                if let first = inFlight.first { write(first) }
            case 10:
                if settings.confirm == .pong, Bool.random(using: &dice), let newest = written.last {
                    end(outbox.confirmed(through: newest).map(\.id.number))
                } else {
                    _ = outbox.connectionLost(closeCode: nil)
                    inFlight = []
                }
            default:
                guard Int.random(in: 0..<10, using: &dice) == 0 else { continue }
                // The process dies: what was pending never gets to the disk, or some of it does.
                for change in disk.pending.prefix(Int.random(in: 0...disk.pending.count, using: &dice)) {
                    disk.write(change)
                }
                disk.pending = []
                accepted.formUnion(disk.connection.messages.map(\.number))
                outbox = restored(disk.connection, settings)
                inFlight = []
                #expect(outbox.content.map(\.id.number) == disk.connection.messages.map(\.number))
            }
        }
        // In the end everything goes out.
        _ = outbox.connectionLost(closeCode: nil)
        for change in disk.pending {
            if case .offer(let messages) = change { accepted.formUnion(messages.map(\.number)) }
            disk.write(change)
        }
        outbox.stored(through: .max - 1)
        while let departure = outbox.next() { write(departure.id.number) }
        #expect(Set(written) == accepted)
        // What went out first went out in order.
        var seen: Set<UInt64> = []
        let firsts = written.filter { seen.insert($0).inserted }
        #expect(firsts == firsts.sorted())
    }
}
