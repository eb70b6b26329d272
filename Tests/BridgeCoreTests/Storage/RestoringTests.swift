import BridgeCore
import Testing
import WebSocketProtocol

/// What was stored goes on as if the process had never ended.
struct RestoringTests {
    private let now = ClockReading(
        instant: Instant(nanoseconds: 5_000_000_000),
        time: RestoringTests.time(100_000)
    )

    private static let epoch = Epoch(bits: 7)
    private static let outbox = OutboxID(epoch: epoch, number: 1)

    private static func time(_ milliseconds: Int64) -> WallTime {
        WallTime(millisecondsSince1970: milliseconds)
    }

    private func message(_ number: UInt64, at milliseconds: Int64 = 99_000, _ text: String = "abc")
        -> StoredMessage
    {
        StoredMessage(
            number: number,
            queuedAt: Self.time(milliseconds),
            message: Message(.text, Array(text.utf8))
        )
    }

    private func connection(_ change: (inout StoredConnection) -> Void) -> StoredConnection {
        var connection = StoredConnection(id: StoredConnectionID(number: 1), name: "orders")
        change(&connection)
        return connection
    }

    @Test func `an outbox goes on with what waited, in order, and gives no number twice`() throws {
        let stored = connection { connection in
            connection.lastMessage = 9
            connection.messages = [message(4), message(7)]
        }
        var outbox = Outbox(OutboxSettings(), epoch: Self.epoch, restoring: stored, now: now)
        #expect(outbox.content.map(\.id.number) == [4, 7])
        #expect(outbox.load(now: now.instant).bytes == 6)
        let receipt = try outbox.append([Message(.text, [])], uplink: .ready, now: now.instant)
        #expect(receipt.ids == MessageIDs(outbox: Self.outbox, numbers: 10..<11))
        outbox.stored(through: 10)
        let numbers = (0..<3).map { _ in outbox.next()?.id.number }
        #expect(numbers == [4, 7, 10])
    }

    @Test(
        arguments: [(99_000, 1000), (40_000, 60_000), (100_500, 0), (Int64.min, 3_155_760_000_000)]
            as [(Int64, Int64)]
    )
    func `messages age while no process is there, and never less than none`(queued: Int64, age: Int64) {
        let stored = connection { $0.messages = [message(1, at: queued)] }
        let outbox = Outbox(OutboxSettings(), epoch: Self.epoch, restoring: stored, now: now)
        #expect(outbox.load(now: now.instant).oldestAge == .milliseconds(age))
    }

    @Test func `messages that have become too old expire first`() {
        var settings = OutboxSettings()
        settings.maxAge = .seconds(30)
        let stored = connection { $0.messages = [message(1, at: 60_000), message(2, at: 90_000)] }
        var outbox = Outbox(settings, epoch: Self.epoch, restoring: stored, now: now)
        let expired = outbox.expire(now: now.instant)
        #expect(expired.map(\.number) == [1])
    }

    @Test func `what became of messages is known`() {
        let stored = connection { connection in
            connection.messages = [message(3)]
            connection.outcomes = [
                StoredOutcome(number: 1, queuedAt: Self.time(1), state: .sent(at: Self.time(2))),
                StoredOutcome(number: 2, queuedAt: Self.time(1), state: .dropped),
            ]
        }
        let journal = MessageJournal(restoring: stored)
        #expect(journal[1]?.state == .sent(at: Self.time(2)))
        #expect(journal[2]?.state == .dropped)
        #expect(journal[3]?.state == .queued)
        #expect(journal[3]?.queuedAt == Self.time(99_000))
        #expect(journal[4] == nil)
    }

    @Test func `what waits is known among what has ended, in whatever order that came`() {
        let stored = connection { connection in
            connection.messages = [message(2), message(5), message(6)]
            connection.outcomes = ([1, 3, 4] as [UInt64]).map { number in
                StoredOutcome(number: number, queuedAt: Self.time(1), state: .dropped)
            }
        }
        var journal = MessageJournal(restoring: stored)
        for number in 7...20 as ClosedRange<UInt64> { journal.queued(number, at: Self.time(2)) }
        #expect(([2, 5, 6, 7, 13, 20] as [UInt64]).allSatisfy { journal[$0]?.state == .queued })
        #expect(([1, 3, 4] as [UInt64]).allSatisfy { journal[$0]?.state == .dropped })
        journal.ended(5, as: .expired)
        #expect(journal[5]?.state == .expired)
    }

    @Test func `a connection has what the store knows under its name, once, and new ones get new ids`() {
        var recovery = StoreRecovery(
            epoch: Self.epoch,
            headSequence: 0,
            nextConnection: StoredConnectionID(number: 9)
        )
        let orders = connection { $0.messages = [message(1)] }
        recovery.connections = [
            orders, StoredConnection(id: StoredConnectionID(number: 2), name: "trades"),
            StoredConnection(id: StoredConnectionID(number: 3), name: "slip"),
        ]
        var connections = StoredConnections(recovery)
        #expect(connections.claim("orders") == orders)
        #expect(connections.claim("new").id.number == 9)
        #expect(connections.leftOver.map(\.name) == ["slip", "trades"])
        // It was removed meanwhile: what comes anew under its name has nothing of it.
        #expect(connections.claim("orders") == StoredConnection(id: .init(number: 10), name: "orders"))
        #expect(connections.forget("slip")?.number == 3)
        #expect(connections.forget("slip") == nil)
        #expect(connections.claim("slip").id.number == 11)
    }

    @Test func `no two outboxes of an epoch give the same id, be one removed and made again`() throws {
        var recovery = StoreRecovery(
            epoch: Self.epoch,
            headSequence: 0,
            nextConnection: StoredConnectionID(number: 2)
        )
        recovery.connections = [connection { $0.lastMessage = 1 }]
        var ids: [MessageID] = []
        // Whoever had the name before was removed.
        var connections = StoredConnections(recovery)
        for name in ["orders", "orders", "trades", "orders"] {
            var stored = connections.claim(name)
            // Another process goes on with it once.
            for _ in 0..<2 {
                var outbox = Outbox(OutboxSettings(), epoch: Self.epoch, restoring: stored, now: now)
                ids += try outbox.append([Message(.text, [])], uplink: .ready, now: now.instant).ids
                stored.lastMessage += 1
            }
        }
        #expect(Set(ids).count == ids.count)
        #expect(Set(ids.map(\.description)).count == ids.count)
    }

    @Test func `an outbox takes no id of another one for its own`() throws {
        var outbox = Outbox(OutboxSettings(), as: .one)
        let receipt = try outbox.append([Message(.text, [])], uplink: .ready, now: now.instant)
        let id = try #require(receipt.ids.first)
        let foreign = MessageID(outbox: .another, number: id.number)
        #expect(receipt.ids.firstIndex(of: foreign) == nil)
        let isDropped = outbox.drop(foreign)
        #expect(!isDropped)
        let isOurs = outbox.drop(id)
        #expect(isOurs)
    }

    private func key(_ name: String, at milliseconds: Int64 = 99_000, answer: MessageStates? = nil)
        -> StoredKey
    {
        StoredKey(
            key: name,
            fingerprint: [1],
            firstUse: Self.time(milliseconds),
            firstMessage: 1,
            count: 2,
            answer: answer
        )
    }

    @Test func `a repeat gets the first answer, not what is known by now`() {
        let stored = connection { connection in
            connection.outcomes = [StoredOutcome(number: 1, queuedAt: Self.time(1), state: .expired)]
            connection.keys = [key("k", answer: MessageStates([(2, .queued)]))]
        }
        var ledger = IdempotencyLedger(restoring: stored, epoch: Self.epoch, now: now)
        let finding = ledger.find("k", fingerprint: [1], now: now.instant)
        let ids = MessageIDs(outbox: Self.outbox, numbers: 1..<3)
        #expect(finding == .answered(Consignment(ids)))
        let other = ledger.find("k", fingerprint: [2], now: now.instant)
        #expect(other == .mismatch)
    }

    @Test func `where no answer was given a repeat gets what is known`() {
        let stored = connection { connection in
            connection.messages = [message(2)]
            connection.outcomes = [
                StoredOutcome(number: 1, queuedAt: Self.time(1), state: .sent(at: Self.time(2)))
            ]
            connection.keys = [key("k")]
        }
        var ledger = IdempotencyLedger(restoring: stored, epoch: Self.epoch, now: now)
        var expected = Consignment(MessageIDs(outbox: Self.outbox, numbers: 1..<3))
        expected.ended(MessageID(outbox: Self.outbox, number: 1), as: .sent(at: Self.time(2)))
        let finding = ledger.find("k", fingerprint: [1], now: now.instant)
        #expect(finding == .answered(expected))
    }

    @Test func `keys are forgotten a day after their first use, whoever saw that`() {
        let day: Int64 = 24 * 3_600_000
        let stored = connection { $0.keys = [key("old", at: 100_000 - day), key("new", at: 100_001 - day)] }
        var ledger = IdempotencyLedger(restoring: stored, epoch: Self.epoch, now: now)
        let (old, new) = (
            ledger.find("old", fingerprint: [1], now: now.instant),
            ledger.find("new", fingerprint: [1], now: now.instant)
        )
        #expect(old == .new)
        #expect(new != .new)
    }

    @Test(arguments: ["", "1 queued", "2 sent 5;1 queued", "1 expired;3 dropped;2 sent -4"])
    func `states are read as they are written`(text: String) throws {
        #expect(try #require(MessageStates(text: text)).text == text)
    }

    @Test(arguments: [
        "1", "0 queued", "-1 queued", "1 lost", "1 sent", "1 queued 4", "1 queued;1 queued", "1 queued;",
    ])
    func `what is no state is not read`(text: String) {
        #expect(MessageStates(text: text) == nil)
    }

    static let events: [Lifecycle] = [
        .connecting, .open(subprotocol: nil, reconnected: true),
        .open(subprotocol: "a\"b", reconnected: false), .ready,
        .closed(code: 1006, reason: "na\u{1}ïve\n", clean: false, by: .server),
        .failed(DialFailure(phase: .onOpen, status: 503, error: "no")),
        .failed(DialFailure(phase: .dns, error: "")), .heartbeatMissed(misses: 2), .heartbeatLost,
        .reconnecting(attempt: 3, delay: .milliseconds(1500)), .gaveUp(attempts: 4), .networkLost,
        .networkRestored, .paused, .resumed, .rotated, .messageExpired(id: "e-m1"),
        .messageDropped(id: "e-m2"),
    ]

    @Test(arguments: events)
    func `a lifecycle event is read as it was stored`(event: Lifecycle) {
        #expect(Lifecycle(storedBytes: event.storedBytes) == event)
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"type":"new"}"#, #"{"type":"closed","code":70000}"#, #"{"type":"gave-up"}"#,
    ])
    func `what is no lifecycle event is not read`(text: String) {
        #expect(Lifecycle(storedBytes: Array(text.utf8)) == nil)
    }

    @Test func `a record is the same after it was stored`() throws {
        var log = EventLog(epoch: Epoch(bits: 1))
        let registered = log.register("orders", limits: HistoryLimits())
        let index = try #require(registered)
        let id = StoredConnectionID(number: 7)
        let payloads: [Record.Payload] = [
            .message(Message(.text, [65])), .message(Message(.binary, [0, 255])), .status(.ready),
        ]
        for (payload, direction) in zip(
            payloads + payloads.prefix(2),
            [.received, .received, .received, .sent, .sent]
        )
            as Zip2Sequence<[Record.Payload], [Record.Direction]>
        {
            let record = log.append(payload, of: index, direction: direction, at: Self.time(5), topic: "a.b")
            let stored = StoredRecord(record, of: id, ordinal: 3)
            #expect(Record(stored, of: index) == record)
        }
    }
}
