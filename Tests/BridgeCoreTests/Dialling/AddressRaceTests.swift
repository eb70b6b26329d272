import BridgeCore
import Testing

/// A race on a virtual clock: each address does after a while what the test says.
private struct RaceWorld {
    enum Fate {
        case connects(after: Int)
        case fails(after: Int)
        case silent
    }

    private(set) var race: AddressRace
    private(set) var now = 0
    /// When each address was dialled, in ms.
    private(set) var dialled: [Int: Int] = [:]
    private(set) var outcome: String?
    private let fates: [Fate]
    private var timer: (index: Int, due: Int)?
    /// Those that have failed.
    private var reported: Set<Int> = []

    init(_ fates: [Fate]) {
        self.fates = fates
        race = AddressRace(count: fates.count)
        carryOut(race.handle(.started))
    }

    /// Lets time pass until the race is over or nothing happens any more.
    mutating func run() {
        while outcome == nil, let (due, event) = nextEvent {
            now = due
            switch event {
            case .turnCame: timer = nil
            case .failed(let index, _): reported.insert(index)
            case .started, .connected: break
            }
            carryOut(race.handle(event))
        }
    }

    private var nextEvent: (Int, AddressRace.Event)? {
        var events: [(Int, AddressRace.Event)] = []
        for (index, start) in dialled.sorted(by: { $0.key < $1.key }) {
            switch fates[index] {
            case .connects(let delay): events.append((start + delay, .connected(index)))
            case .fails(let delay) where !reported.contains(index):
                events.append((start + delay, .failed(index, error: "refused")))
            case .fails, .silent: break
            }
        }
        if let timer { events.append((timer.due, .turnCame(timer.index))) }
        return events.min { $0.0 < $1.0 }
    }

    private mutating func carryOut(_ actions: [AddressRace.Action]) {
        for action in actions {
            switch action {
            case .dial(let index): dialled[index] = now
            case .startTimer(let index, let delay): timer = (index, now + Int(delay.milliseconds))
            case .won(let index): outcome = "\(index) after \(now)"
            case .lost: outcome = "lost after \(now)"
            }
        }
    }
}

@Suite struct `A race of addresses (happy eyeballs)` {
    @Test func `happy eyeballs give each address a head start of 250 ms`() {
        var world = RaceWorld([.silent, .silent, .silent, .connects(after: 10)])
        world.run()
        #expect(world.dialled == [0: 0, 1: 250, 2: 500, 3: 750])
        #expect(world.outcome == "3 after 760")
    }

    @Test func `dials the next at once when one fails`() {
        var world = RaceWorld([.fails(after: 3), .fails(after: 4), .connects(after: 5)])
        world.run()
        #expect(world.dialled == [0: 0, 1: 3, 2: 7])
        #expect(world.outcome == "2 after 12")
    }

    @Test func `counts the next head start from the last dial`() {
        var world = RaceWorld([.silent, .fails(after: 100), .silent, .silent])
        world.run()
        #expect(world.dialled == [0: 0, 1: 250, 2: 350, 3: 600])
        #expect(world.outcome == nil)
    }

    @Test func `is won by the first that connects, not by the first that was dialled`() {
        var world = RaceWorld([.connects(after: 400), .connects(after: 100), .silent])
        world.run()
        #expect(world.outcome == "1 after 350")
        #expect(world.dialled == [0: 0, 1: 250])
    }

    @Test func `dials one alone when that is quick`() {
        var world = RaceWorld([.connects(after: 249), .connects(after: 1)])
        world.run()
        #expect(world.dialled == [0: 0])
        #expect(world.outcome == "0 after 249")
    }

    @Test func `is lost when all have failed, not before`() {
        var world = RaceWorld([.fails(after: 900), .fails(after: 1), .fails(after: 1)])
        world.run()
        #expect(world.dialled == [0: 0, 1: 250, 2: 251])
        #expect(world.outcome == "lost after 900")
    }

    @Test func `ignores a timer that comes late and what comes after the end`() {
        var race = AddressRace(count: 3)
        let events: [AddressRace.Event] = [
            .started, .failed(0, error: "x"), .turnCame(1), .turnCame(2), .connected(1), .connected(2),
            .failed(2, error: "x"),
        ]
        let actions = events.map { race.handle($0) }
        let headStart = Duration.milliseconds(250)
        let expected: [[AddressRace.Action]] = [
            [.dial(0), .startTimer(for: 1, after: headStart)],
            [.dial(1), .startTimer(for: 2, after: headStart)], [], [.dial(2)], [.won(1)], [], [],
        ]
        #expect(actions == expected)
    }

    @Test(arguments: [
        ("", ""), ("4a", "4a"), ("6a 6b 6c 4a 4b", "6a 4a 6b 4b 6c"), ("4a 4b 6a", "4a 6a 4b"),
        ("4a 6a 6b 6c", "4a 6a 6b 6c"), ("6a 6b", "6a 6b"),
        (
            (0..<20).map { "6\($0)" }.joined(separator: " ") + " 4a",
            "60 4a " + (1..<15).map { "6\($0)" }.joined(separator: " ")
        ),
    ])
    func `takes the families in turn, beginning with the system's choice`(found: String, expected: String) {
        let order = AddressRace.order(found.split(separator: " ")) { $0.hasPrefix("6") }
        #expect(order.joined(separator: " ") == expected)
    }

    @Test func `tells all tries, but no more than four`() {
        var race = AddressRace(count: 6)
        _ = race.handle(.started)
        #expect(race.account { "a\($0)" } == "a0: no answer")
        _ = race.handle(.turnCame(1))
        _ = race.handle(.failed(0, error: "refused"))
        #expect(race.account { "a\($0)" } == "a0: refused; a1: no answer; a2: no answer")
        for index in 1...3 { _ = race.handle(.failed(index, error: "refused")) }
        let expected = "a0: refused; a1: refused; a2: refused; a3: refused; and 2 more"
        #expect(race.account { "a\($0)" } == expected)
    }
}
