import BridgeCore
import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// Random walks of the outbox beside a model that keeps everything in plain arrays.
@Suite struct OutboxWalkTests {
    private struct Model {
        struct Entry: Equatable {
            var number: UInt64
            var size: Int
            var queuedAt: Instant
            var refusals = 0
        }

        let settings: OutboxSettings
        var queued: [Entry] = []
        var inFlight: [Entry] = []
        var unproven: [Entry] = []
        var last: UInt64 = 0

        var out: [Entry] { unproven + inFlight }
        var all: [Entry] { out + queued }
        var bytes: Int { all.reduce(0) { $0 + $1.size } }

        /// What a message takes of memory besides its payload.
        var overhead: Int
        var memory: Int { bytes + all.count * overhead }

        func fits(_ sizes: [Int], dropping count: Int, _ room: OutboxRoom) -> Bool {
            let rest = out + queued.dropFirst(count)
            let bytes = rest.reduce(sizes.reduce(0, +)) { $0 + $1.size }
            let messages = rest.count + sizes.count
            let isSmall = messages <= settings.maxMessages && bytes <= settings.maxBytes
            return isSmall && (sizes.isEmpty || bytes + messages * overhead - memory <= room.free)
        }

        /// The numbers that are dropped for them; nil if they are refused, all of them.
        mutating func append(_ sizes: [Int], _ room: OutboxRoom, now: Instant) -> [UInt64]? {
            let most = settings.overflow == .dropOldest ? queued.count : 0
            guard sizes.reduce(sizes.count * overhead, +) <= room.total,
                let count = (0...most).first(where: { fits(sizes, dropping: $0, room) })
            else { return nil }
            let dropped = queued.prefix(count).map(\.number)
            queued.removeFirst(count)
            for size in sizes {
                last += 1
                queued.append(Entry(number: last, size: size, queuedAt: now))
            }
            return dropped
        }

        mutating func drop(_ number: UInt64) -> Bool {
            guard let index = queued.firstIndex(where: { $0.number == number }) else { return false }
            queued.remove(at: index)
            return true
        }

        mutating func dropAll() -> [UInt64] {
            let numbers = queued.map(\.number)
            queued = []
            return numbers
        }

        mutating func next() -> UInt64? {
            guard let first = queued.first else { return nil }
            let isAlone = (out + [first]).contains { $0.refusals > 0 }
            if settings.confirm == .pong, isAlone, !out.isEmpty { return nil }
            inFlight.append(queued.removeFirst())
            return first.number
        }

        /// The number of the message that is sent thereby.
        mutating func write() -> UInt64? {
            let entry = inFlight.removeFirst()
            if settings.confirm == .written { return entry.number }
            unproven.append(entry)
            return nil
        }

        mutating func confirm(through number: UInt64) -> [UInt64] {
            let sent = out.filter { $0.number <= number }.map(\.number)
            unproven.removeAll { $0.number <= number }
            inFlight.removeAll { $0.number <= number }
            return sent
        }

        mutating func lose(_ code: UInt16) -> UInt64? {
            var back = out
            var refused: UInt64?
            if code == 1009 {
                let suspects = unproven.count + min(inFlight.count, 1)
                for index in 0..<suspects { back[index].refusals += 1 }
                if suspects == 1, back[0].refusals >= 2 { refused = back.removeFirst().number }
            }
            queued = back + queued
            inFlight = []
            unproven = []
            return refused
        }

        mutating func expire(now: Instant) -> [UInt64] {
            guard let age = settings.maxAge else { return [] }
            let expired = queued.prefix { $0.queuedAt + age <= now }.map(\.number)
            queued.removeFirst(expired.count)
            return expired
        }
    }

    private func settings(_ dice: inout SeededGenerator) -> OutboxSettings {
        var settings = OutboxSettings()
        settings.maxMessages = Int.random(in: 1...12, using: &dice)
        settings.maxBytes = Int.random(in: 0...40, using: &dice)
        settings.overflow = Bool.random(using: &dice) ? .reject : .dropOldest
        settings.confirm = Bool.random(using: &dice) ? .written : .pong
        settings.maxAge = Bool.random(using: &dice) ? .seconds(Int.random(in: 1...30, using: &dice)) : nil
        return settings
    }

    private func room(_ lone: Int, _ dice: inout SeededGenerator) -> OutboxRoom {
        guard Bool.random(using: &dice) else { return .unlimited }
        return OutboxRoom(
            total: Int.random(in: 0...8 * lone, using: &dice),
            free: Int.random(in: 0...4 * lone, using: &dice)
        )
    }

    @Test(arguments: 1...100 as ClosedRange<UInt64>)
    func `the outbox does what the model does`(seed: UInt64) throws {
        var dice = SeededGenerator(seed: seed)
        let settings = settings(&dice)
        var outbox = Outbox(settings, as: .one)
        let lone = try outbox.memory(of: [Message(.binary, [])])
        var model = Model(settings: settings, overhead: lone)
        var now = Instant(nanoseconds: 0)
        for _ in 0..<500 {
            now += .milliseconds(Int.random(in: 0...2000, using: &dice))
            switch Int.random(in: 0..<16, using: &dice) {
            case 0...4:
                let count = Int.random(in: 0..<3, using: &dice) == 0 ? Int.random(in: 0...5, using: &dice) : 1
                let sizes = (0..<count).map { _ in Int.random(in: 0...12, using: &dice) }
                let messages = sizes.map { Message(.binary, [UInt8](repeating: 1, count: $0)) }
                let first = model.last + 1
                let room = room(lone, &dice)
                let receipt = try? outbox.append(messages, uplink: .away, room: room, now: now)
                #expect(receipt?.dropped.map(\.number) == model.append(sizes, room, now: now))
                if let receipt { #expect(receipt.ids.map(\.number) == Array(first..<first + UInt64(count))) }
            case 5...7:
                let expected = model.next()
                #expect(outbox.next()?.id.number == expected)
            case 8...9:
                guard let first = model.inFlight.first else { continue }
                let sent = outbox.written(MessageID(outbox: .one, number: first.number))
                #expect(sent?.bytes.count == model.write().map { _ in first.size })
            case 10:
                let code: UInt16 = Bool.random(using: &dice) ? 1009 : 1006
                #expect(outbox.connectionLost(closeCode: code)?.number == model.lose(code))
            case 11:
                let number = UInt64.random(in: 0...model.last + 1, using: &dice)
                #expect(outbox.drop(MessageID(outbox: .one, number: number)) == model.drop(number))
                let foreign = MessageID(outbox: .another, number: model.queued.first?.number ?? 0)
                #expect(outbox.drop(foreign) == false)
            case 12:
                guard Int.random(in: 0..<5, using: &dice) == 0 else { continue }
                let dropped = outbox.dropAll()
                #expect(dropped.map(\.number) == model.dropAll())
            case 13...14:
                guard settings.confirm == .pong else { continue }
                // Now and then of one that is in flight still, or gone already.
                let number = (model.out.randomElement(using: &dice)?.number ?? 0)
                #expect(outbox.confirmed(through: number).map(\.id.number) == model.confirm(through: number))
            default:
                #expect(outbox.expire(now: now).map(\.number) == model.expire(now: now))
            }
            let load = outbox.load(now: now)
            #expect(load.messages == model.all.count)
            #expect(outbox.isEmpty == model.all.isEmpty)
            #expect(load.bytes == model.bytes)
            #expect(outbox.memoryBytes == model.memory)
            let content = model.all.map { [Int(clamping: $0.number), $0.size] }
            #expect(outbox.content.map { [Int(clamping: $0.id.number), $0.bytes] } == content)
            #expect(load.oldestAge == model.all.first.map { now - $0.queuedAt })
        }
    }
}

extension Outbox {
    /// What these messages take of memory.
    fileprivate func memory(of messages: [Message]) throws -> Int {
        var outbox = Outbox(OutboxSettings(), as: .one)
        _ = try outbox.append(messages, uplink: .away, now: Instant(nanoseconds: 0))
        return outbox.memoryBytes
    }
}
