import BridgeCore
import Testing

/// How the time to stop is divided.
@Suite struct `Shutdown times` {
    @Test func `leave time for streams, for the store and for the end of the process`() {
        let times = ShutdownTimes(limit: .seconds(8), hasStore: true)
        #expect(times.upstreams == .milliseconds(5500))
        #expect(times.streams == .milliseconds(6500))
        #expect(times.store == .milliseconds(7500))
    }

    @Test func `need nothing for a store that there is not`() {
        let times = ShutdownTimes(limit: .seconds(8), hasStore: false)
        #expect(times.upstreams == .milliseconds(6500))
        #expect(times.streams == times.store)
        #expect(times.store == .milliseconds(7500))
    }

    @Test(arguments: [0, 1, 16, 500, 1000, 3_600_000] as [Int64], [true, false])
    func `come in their order within every limit`(milliseconds: Int64, hasStore: Bool) {
        let limit = Duration.milliseconds(milliseconds)
        let times = ShutdownTimes(limit: limit, hasStore: hasStore)
        let parts = [Duration.zero, times.upstreams, times.streams, times.store, limit]
        #expect(parts == parts.sorted())
        // Most of it is for those who wait for something.
        #expect(times.upstreams >= limit / 2)
        #expect(times.streams >= limit * 3 / 4)
        #expect(milliseconds < 16 || times.upstreams < times.streams)
        #expect(milliseconds == 0 || times.store < limit)
    }
}
