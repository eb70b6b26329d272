import BridgeCore
import Testing

@Suite struct `A sleep gauge` {
    @Test func `tells sleep from time that passes`() {
        var gauge = SleepGauge(sinceBoot: .seconds(100), awake: .seconds(90))
        let awake = gauge.hasSlept(sinceBoot: .seconds(200), awake: .seconds(190))
        let unsteady = gauge.hasSlept(sinceBoot: .milliseconds(300_010), awake: .seconds(290))
        #expect(!awake && !unsteady)
        let night = gauge.hasSlept(sinceBoot: .seconds(30_000), awake: .seconds(291))
        #expect(night)
    }

    @Test func `tells each sleep once`() {
        var gauge = SleepGauge(sinceBoot: .zero, awake: .zero)
        let first = gauge.hasSlept(sinceBoot: .seconds(11), awake: .seconds(1))
        let again = gauge.hasSlept(sinceBoot: .seconds(12), awake: .seconds(2))
        let second = gauge.hasSlept(sinceBoot: .seconds(33), awake: .seconds(3))
        #expect((first, again, second) == (true, false, true))
    }
}
