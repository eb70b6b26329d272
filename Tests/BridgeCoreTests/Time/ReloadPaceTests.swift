import BridgeCore
import Testing

/// When the configuration is read again.
@Suite struct `The pace of reloads` {
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    @Test func `is that of the one who asks`() {
        var pace = ReloadPace()
        #expect(pace.asked(now: at(0)) == .zero)
        pace.begins()
        pace.ended(began: at(0), now: at(4))
        #expect(pace.asked(now: at(8)) == .zero)
    }

    @Test func `makes one of many before it begins`() {
        var pace = ReloadPace()
        #expect(pace.asked(now: at(0)) == .zero)
        #expect(pace.asked(now: at(0)) == nil)
        #expect(pace.asked(now: at(1)) == nil)
    }

    @Test func `forgets none that comes while one is under way`() {
        var pace = ReloadPace()
        _ = pace.asked(now: at(0))
        pace.begins()
        #expect(pace.asked(now: at(2)) == .zero)
        #expect(pace.asked(now: at(3)) == nil)
    }

    @Test func `leaves others as much time as the last one took`() {
        var pace = ReloadPace()
        _ = pace.asked(now: at(0))
        pace.begins()
        pace.ended(began: at(0), now: at(40))
        #expect(pace.asked(now: at(50)) == .milliseconds(30))
        #expect(pace.asked(now: at(60)) == nil)
    }
}
