import Testing

@Suite struct `The event log over a store against a naive model` {
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `every record comes once and in order, or is announced as lost once`(seed: UInt64) throws {
        var run = StoredRun(seed: seed)
        for _ in 0..<300 { run.step() }
        run.readAllToTheEnd()
        #expect(run.complaints.prefix(3) == [], "seed \(seed)")
    }

    // The last ones have failed once.
    @Test(arguments: Array(0..<100) + [167, 354, 1105] as [UInt64])
    func `so it is where a part of the disk is damaged`(seed: UInt64) throws {
        var run = StoredRun(seed: seed, damages: true)
        for _ in 0..<300 { run.step() }
        run.readAllToTheEnd()
        #expect(run.complaints.prefix(3) == [], "seed \(seed)")
    }

    @Test func `losses are counted nearly always`() {
        var (counted, uncounted) = (0, 0)
        for seed in 0..<40 as Range<UInt64> {
            var run = StoredRun(seed: seed)
            for _ in 0..<400 { run.step() }
            run.readAllToTheEnd()
            counted += run.countedGaps
            uncounted += run.uncountedGaps
        }
        #expect(counted > 500)
        #expect(counted > 2 * uncounted)
    }
}
