import BridgeCore
import Testing
import WebSocketTestSupport

@Suite struct BackoffTests {
    static let plain: ReconnectSettings = {
        var settings = ReconnectSettings()
        settings.jitter = 0
        return settings
    }()

    @Test(arguments: [
        (1, Duration.milliseconds(500)), (2, .seconds(1)), (3, .seconds(2)), (7, .seconds(32)),
        (8, .seconds(60)),
        (9, .seconds(60)), (Int.max, .seconds(60)), (0, .milliseconds(500)),
        (Int.min + 2, .milliseconds(500)),
    ])
    func `the delay doubles up to the cap`(attempt: Int, expected: Duration) {
        var random = SeededGenerator(seed: 1)
        let delay = Backoff(Self.plain).delay(attempt: attempt, random: &random)
        #expect(delay == expected)
    }

    @Test(arguments: [1, 2, 10, 1000])
    func `a factor of 1 is a fixed interval`(attempt: Int) {
        var settings = Self.plain
        settings.factor = 1
        var random = SeededGenerator(seed: 1)
        let delay = Backoff(settings).delay(attempt: attempt, random: &random)
        #expect(delay == .milliseconds(500))
    }

    @Test(arguments: [1, 4, 8, 20])
    func `jitter is drawn per attempt, after the cap`(attempt: Int) {
        var random = SeededGenerator(seed: 7)
        let full = Backoff(Self.plain).delay(attempt: attempt, random: &random)
        let jittered = Backoff(ReconnectSettings())
        let delays = (0..<200).map { _ in jittered.delay(attempt: attempt, random: &random) }
        let least = full * 3 / 4
        #expect(delays.allSatisfy { $0 >= least && $0 <= full })
        #expect(Set(delays).count > 190)
    }

    @Test func `what the peer asked for is a lower bound that neither cap nor jitter shortens`() {
        var random = SeededGenerator(seed: 1)
        let backoff = Backoff(ReconnectSettings())
        let long = backoff.delay(attempt: 1, atLeast: .seconds(120), random: &random)
        let short = backoff.delay(attempt: 8, atLeast: .milliseconds(1), random: &random)
        #expect(long == .seconds(120))
        #expect(short >= .seconds(45))
    }

    @Test(arguments: [0, -1, .nan, .infinity, 1e300, 0.5, 1.000_000_1] as [Double])
    func `no factor makes it trap or leave its bounds`(factor: Double) {
        var settings = ReconnectSettings()
        settings.factor = factor
        settings.jitter = .nan
        settings.maxDelay = .seconds(Int64.max)
        var random = SeededGenerator(seed: 3)
        for attempt in [1, 2, 3, 1_000_000, .max] {
            let delay = Backoff(settings).delay(attempt: attempt, random: &random)
            #expect(delay >= .milliseconds(500))
        }
    }

    @Test func `an initial delay of zero dials again at once, whatever the factor`() {
        var settings = ReconnectSettings()
        settings.initialDelay = .zero
        settings.factor = .infinity
        var random = SeededGenerator(seed: 3)
        let delay = Backoff(settings).delay(attempt: 5, random: &random)
        #expect(delay == .zero)
    }
}
