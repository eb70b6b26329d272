import BridgeCore
import Testing
import WebSocketProtocol

@testable import BridgeIO

/// Records between their arrival and the store's word on them.
@MainActor @Suite(.serialized, .timeLimit(.minutes(1))) struct `Staged records` {
    /// What happens in one turn, in which a record comes.
    struct Turn {
        var offer: RecordOffer
        /// What becomes of the oldest batches that wait, afterwards.
        var settled: [Bool] = []
        /// Records that are shown by then.
        var shown: UInt64
    }

    struct Story: CustomTestStringConvertible {
        var testDescription: String
        var turns: [Turn]
        /// How many records each offer has.
        var offers: [Int]
        var isOwed: Bool
    }

    nonisolated static let stories = [
        Story(
            testDescription: "committed one by one",
            turns: [
                Turn(offer: .taken, settled: [true], shown: 1),
                Turn(offer: .taken, settled: [true], shown: 2),
            ],
            offers: [1, 1],
            isOwed: false
        ),
        Story(
            testDescription: "committed together",
            turns: [
                Turn(offer: .taken, shown: 0), Turn(offer: .taken, shown: 0),
                Turn(offer: .taken, settled: [true, true, true], shown: 3),
            ],
            offers: [1, 1, 1],
            isOwed: false
        ),
        Story(
            testDescription: "a commit that fails between two that do not",
            turns: [
                Turn(offer: .taken, shown: 0), Turn(offer: .taken, settled: [true], shown: 1),
                Turn(offer: .taken, settled: [false], shown: 2),
                Turn(offer: .taken, settled: [true, true], shown: 4),
            ],
            offers: [1, 1, 1, 1],
            isOwed: true
        ),
        Story(
            testDescription: "refused at once, with nothing before",
            turns: [Turn(offer: .refused, shown: 1), Turn(offer: .refused, shown: 2)],
            offers: [1, 1],
            isOwed: true
        ),
        Story(
            testDescription: "refused at once behind some that wait",
            turns: [
                Turn(offer: .taken, shown: 0), Turn(offer: .refused, shown: 0), Turn(offer: .taken, shown: 0),
                Turn(offer: .refused, settled: [true], shown: 2),
                Turn(offer: .refused, settled: [true], shown: 5),
            ],
            offers: [1, 1, 1, 1, 1],
            isOwed: true
        ),
        Story(
            testDescription: "later, with all that comes meanwhile",
            turns: [
                Turn(offer: .later, shown: 0), Turn(offer: .later, shown: 0),
                Turn(offer: .taken, settled: [true], shown: 3),
            ],
            offers: [1, 2, 3],
            isOwed: false
        ),
        Story(
            testDescription: "later behind some that wait, then refused",
            turns: [
                Turn(offer: .taken, shown: 0), Turn(offer: .later, settled: [true], shown: 1),
                Turn(offer: .refused, shown: 3), Turn(offer: .taken, settled: [true], shown: 4),
            ],
            offers: [1, 1, 2, 1],
            isOwed: true
        ),
        Story(
            testDescription: "refused behind a commit that fails",
            turns: [
                Turn(offer: .taken, shown: 0), Turn(offer: .refused, settled: [false], shown: 2),
                Turn(offer: .taken, settled: [true], shown: 3),
            ],
            offers: [1, 1, 1],
            isOwed: true
        ),
    ]

    private func open(_ service: TestService, _ target: String, _ way: StreamWay) throws -> TestClient {
        let before = service.hub.subscriberCount
        let client = try service.client("GET \(target) HTTP/\(way.version)\r\nHost: localhost\r\n\r\n")
        run(service) { service.hub.subscriberCount == before + 1 }
        return client
    }

    /// Runs until this is so at the end of a turn; gives up, as an issue, after a minute.
    private func run(
        _ service: TestService,
        until holds: @escaping () -> Bool,
        _ location: SourceLocation = #_sourceLocation
    ) {
        var isStuck = false
        let patience = service.loop.startTimer(after: .seconds(60)) {
            isStuck = true
            service.loop.stop()
        }
        let turns = BeforeWaiting(loop: service.loop) { if holds() { service.loop.stop() } }
        service.run()
        withExtendedLifetime((turns, patience)) {}
        if isStuck { Issue.record("it does not come to that", sourceLocation: location) }
    }

    private func held(_ way: StreamWay = .detached, _ limits: HistoryLimits = HistoryLimits()) throws
        -> (TestService, StoreDouble)
    {
        let store = StoreDouble()
        store.isHeld = true
        return (try TestService(history: limits, way: way, store: store), store)
    }

    @Test(arguments: StreamWay.allCases, stories)
    func `are shown in order, once, and not before the store has spoken`(way: StreamWay, story: Story) throws
    {
        let (service, store) = try held(way)
        let client = try open(service, "/events", way)
        for (index, turn) in story.turns.enumerated() {
            service.publish("\(index + 1)")
            store.verdict = turn.offer
            service.hub.storeStaged()
            for isStored in turn.settled { store.settle(isStored) }
            #expect(service.hub.log.headSequence == turn.shown, "turn \(index + 1)")
            service.hub.deliver()
        }
        let count = story.turns.count
        run(service) { client.data.count >= count }
        #expect(client.data == (1...count).map { "\($0)" })
        #expect(store.offered.map(\.count) == story.offers)
        #expect(service.hub.memory.staged == 0)
        // What the store does not have it is told of, once.
        service.hub.noteUnstored()
        service.hub.noteUnstored()
        let id = store.connection("default").id
        let fact = StoreFact.unstored(id, through: UInt64(count), recorded: UInt64(count))
        #expect(store.unstored == (story.isOwed ? [fact] : []))
        service.stop()
    }

    @Test(arguments: StreamWay.allCases, ["", "?since=start", "?last=5", "?since=now"])
    func `come once to who joins meanwhile`(way: StreamWay, query: String) throws {
        let (service, store) = try held(way)
        let first = try open(service, "/events", way)
        service.publish("1")
        service.hub.storeStaged()
        let second = try open(service, "/events" + query, way)
        service.publish("2")
        service.hub.storeStaged()
        for _ in 1...2 { store.settle(true) }
        service.hub.deliver()
        run(service) { [first, second].allSatisfy { $0.data.count >= 2 } }
        #expect(first.data == ["1", "2"])
        #expect(second.data == ["1", "2"])
        service.stop()
    }

    @Test(arguments: StreamWay.allCases) func `do no harm when all streams are dropped`(way: StreamWay) throws
    {
        let (service, store) = try held(way)
        let client = try open(service, "/events", way)
        service.publish("1")
        service.hub.storeStaged()
        service.publish("2")
        service.hub.dropAll()
        run(service) { client.hasEnded }
        #expect(client.data == [])
        store.settle(false)
        store.settle(true)
        #expect(service.hub.log.headSequence == 2)
        let later = try open(service, "/events?since=start", way)
        run(service) { later.data.count >= 2 }
        #expect(later.data == ["1", "2"])
        service.stop()
    }

    @Test(arguments: StreamWay.allCases)
    func `are shown before their connection goes, whatever it says of its end`(way: StreamWay) throws {
        let (service, store) = try held(way)
        let (hub, other) = (service.hub, service.other)
        let client = try open(service, "/v1/events?connection=other&types=text,status", way)
        let both = try open(service, "/v1/events?types=text,status", way)
        service.publish("1", of: other)
        hub.storeStaged()
        hub.append(.status(.closed(code: 1000, reason: "", clean: true, by: .user)), of: other)
        var removed = 0
        hub.whenShown {
            hub.remove(other)
            removed += 1
        }
        hub.storeStaged()
        store.settle(false)
        #expect(removed == 0)
        store.settle(true)
        #expect(removed == 1)
        // Of what is gone the store is told no more than the sequence.
        hub.noteUnstored()
        service.publish("2")
        hub.storeStaged()
        store.settle(true)
        run(service) { client.hasEnded && both.data.last?.contains(#""data":"2""#) == true }
        let parts = [#""data":"1""#, #""type":"closed""#, #""data":"2""#]
        let shown = [client, both].map { client in
            client.data.compactMap { line in parts.firstIndex { line.contains($0) } }
        }
        #expect(shown == [[0, 1], [0, 1, 2]])
        service.stop()
    }

    @Test func `let who waits for them go on in order, when they are shown`() throws {
        let (service, store) = try held()
        var done: [Int] = []
        service.hub.whenShown { done.append(0) }
        #expect(done == [0])
        service.publish("1")
        service.hub.whenShown { done.append(1) }
        service.hub.storeStaged()
        service.hub.whenShown { done.append(2) }
        store.verdict = .refused
        service.publish("2")
        service.hub.storeStaged()
        service.hub.whenShown { done.append(3) }
        #expect(done == [0])
        store.settle(true)
        #expect(done == [0, 1, 2, 3])
        service.stop()
    }

    @Test(arguments: StreamWay.allCases) func `that nobody could keep are a gap of so many`(way: StreamWay)
        throws
    {
        var limits = HistoryLimits()
        limits.maxMessages = 3
        let (service, store) = try held(way, limits)
        store.answer = { question in
            guard case .page(let request) = question else { return nil }
            return .page(StorePage(position: request.through))
        }
        // Not even the first one is on disk, so that nothing but memory has any of them.
        store.verdict = .refused
        for number in 1...8 {
            service.publish("\(number)")
            service.hub.storeStaged()
        }
        let client = try open(service, "/events?since=\(service.hub.log.id(1).text)", way)
        run(service) { client.data.last == "8" }
        #expect(client.text.contains(#""missed":4"#))
        #expect(client.text.ranges(of: "event: gap").count == 1)
        #expect(client.data.filter { !$0.hasPrefix("{") } == ["6", "7", "8"])
        #expect(service.hub.gaps(of: service.connection) == 1)
        service.hub.noteUnstored()
        let id = store.connection("default").id
        #expect(store.unstored == [.unstored(id, through: 8, recorded: 8)])
        service.stop()
    }

    @Test(arguments: StreamWay.twoKinds) func `that are nowhere else stay in memory, however many`(
        way: StreamWay
    )
        throws
    {
        let (service, store) = try held(way)
        store.verdict = .refused
        // More than it has of what is on disk, too.
        let count = 4096
        for number in 1...count { service.publish("\(number)") }
        service.hub.storeStaged()
        let client = try open(service, "/events?since=start", way)
        run(service) { client.endsWith(message: "\(count)") }
        let isWhole = client.data == (1...count).map { "\($0)" }
        #expect(isWhole)
        service.stop()
    }
}
