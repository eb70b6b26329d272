import BridgeCore
import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// Random walks of outbox and schedule over a line that drops, to a peer that refuses what is too big.
@Suite struct DeliveryWalkTests {
    /// All that happens to messages between a client and the peer.
    private struct Line {
        enum Word {
            case pong([UInt8])
            case close(UInt16)
        }

        var schedule: SendSchedule
        var outbox: Outbox
        var now = Instant(nanoseconds: 0)
        /// Handed to the socket, and not taken by the kernel.
        var unwritten: [SendSchedule.Frame] = []
        /// Taken by the kernel, and not read by the peer.
        var underWay: [SendSchedule.Frame] = []
        /// Said by the peer, and not read by the bridge.
        var words: [Word] = []
        var isPeerDone = false
        var posted: [UInt64] = []
        var big: Set<UInt64> = []
        /// What the peer got, again and again if it came so.
        var received: [UInt64] = []
        var sent: [UInt64] = [] {
            didSet { last = sent.last ?? 0 }
        }
        /// The newest message that is sent, as are all before it that were not lost.
        private var last: UInt64 = 0
        private(set) var isSentAgain = false
        var expired: [UInt64] = []
        var dropped: [UInt64] = []
        var refused: [UInt64] = []

        static let maxSize = 10
        static let socket = SocketID(1)

        init(_ settings: OutboxSettings, rate: RateSettings?) {
            schedule = SendSchedule(rate: rate)
            outbox = Outbox(settings, as: .one)
        }

        mutating func post(_ size: Int) throws {
            let message = Message(.binary, [UInt8](repeating: 0, count: size))
            guard let receipt = try? outbox.append([message], uplink: .away, now: now) else { return }
            posted += receipt.ids.map(\.number)
            if size > Line.maxSize { big.formUnion(receipt.ids.map(\.number)) }
            dropped += receipt.dropped.map(\.number)
        }

        mutating func hand() {
            expired += outbox.expire(now: now).map(\.number)
            guard let frame = schedule.next(from: &outbox, isFull: false, now: now) else { return }
            if case .message(let departure) = frame, departure.id.number <= last { isSentAgain = true }
            schedule.handed(to: Line.socket)
            unwritten.append(frame)
        }

        mutating func write() {
            guard !unwritten.isEmpty else { return }
            let frame = unwritten.removeFirst()
            underWay.append(frame)
            schedule.written(on: Line.socket, now: now)
            guard case .message(let departure) = frame else { return }
            if outbox.written(departure.id) != nil { sent.append(departure.id.number) }
        }

        mutating func peerReads() {
            guard !isPeerDone, !underWay.isEmpty else { return }
            switch underWay.removeFirst() {
            case .ping(_, let payload), .probe(let payload): words.append(.pong(payload))
            case .own: break
            case .message(let departure):
                if big.contains(departure.id.number) {
                    isPeerDone = true
                    words.append(.close(1009))
                } else {
                    received.append(departure.id.number)
                }
            }
        }

        mutating func listen() {
            guard !words.isEmpty else { return }
            switch words.removeFirst() {
            case .pong(let payload):
                guard let number = schedule.answered(payload) else { return }
                sent += outbox.confirmed(through: number).map(\.id.number)
            case .close(let code): lose(code)
            }
        }

        mutating func lose(_ code: UInt16?) {
            schedule.lost(Line.socket, now: now)
            schedule.carrierLost()
            if let id = outbox.connectionLost(closeCode: code) { refused.append(id.number) }
            (unwritten, underWay, words, isPeerDone) = ([], [], [], false)
        }

        /// All goes well from now on.
        mutating func settle() {
            var patience = 100_000
            while !outbox.isEmpty, patience > 0 {
                hand()
                write()
                peerReads()
                listen()
                now += .milliseconds(10)
                patience -= 1
            }
        }
    }

    private func line(_ dice: inout SeededGenerator, _ confirm: OutboxSettings.Confirm) -> Line {
        var settings = OutboxSettings()
        settings.confirm = confirm
        settings.maxMessages = Int.random(in: 1...40, using: &dice)
        settings.maxBytes = 1000
        settings.overflow = Bool.random(using: &dice) ? .reject : .dropOldest
        settings.maxAge = Bool.random(using: &dice) ? .seconds(1) : nil
        let rate =
            Bool.random(using: &dice)
            ? RateSettings(messages: Int.random(in: 1...5, using: &dice), per: .milliseconds(40)) : nil
        return Line(settings, rate: rate)
    }

    private func walk(_ line: inout Line, _ dice: inout SeededGenerator, drops: Bool) throws {
        var pings: UInt8 = 0
        for _ in 0..<3000 {
            switch Int.random(in: 0..<40, using: &dice) {
            case 0...7:
                let isBig = Int.random(in: 0..<20, using: &dice) == 0
                try line.post(isBig ? 11 : Int.random(in: 0...10, using: &dice))
            case 8...15: line.hand()
            case 16...23: line.write()
            case 24...30: line.peerReads()
            case 31...36: line.listen()
            case 37: line.now += .milliseconds(Int.random(in: 0...100, using: &dice))
            case 38 where !line.schedule.holdsHeartbeat:
                pings &+= 1
                line.schedule.fellDue(.ping(SocketID(1), [pings]))
            case 39 where drops && Int.random(in: 0..<3, using: &dice) == 0: line.lose(nil)
            default: break
            }
        }
        line.settle()
    }

    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func `with confirm pong nothing is lost, and only what was not sent comes twice`(seed: UInt64) throws {
        var dice = SeededGenerator(seed: seed)
        var line = line(&dice, .pong)
        try walk(&line, &dice, drops: true)
        #expect(line.outbox.isEmpty)
        #expect(!line.isSentAgain)
        var received: Set<UInt64> = []
        let firsts = line.received.filter { received.insert($0).inserted }
        #expect(firsts == firsts.sorted())
        #expect(line.sent == line.sent.sorted())
        #expect(received.isSuperset(of: line.sent))
        // Every message has one end.
        let ends = line.sent + line.expired + line.dropped + line.refused
        #expect(ends.sorted() == line.posted)
        // Whatever the peer refused is too big, and all that is too big met its end so or in time.
        #expect(line.big.isSuperset(of: line.refused))
        #expect(line.big.isDisjoint(with: line.sent))
    }

    @Test(arguments: 1...100 as ClosedRange<UInt64>)
    func `with confirm written the order is kept, and on a line that holds all arrives once`(seed: UInt64)
        throws
    {
        var dice = SeededGenerator(seed: seed)
        var line = line(&dice, .written)
        try walk(&line, &dice, drops: false)
        #expect(line.outbox.isEmpty)
        #expect(!line.isSentAgain)
        #expect(line.received == Set(line.received).sorted())
        let ends = line.sent + line.expired + line.dropped + line.refused
        #expect(ends.sorted() == line.posted)
    }
}
