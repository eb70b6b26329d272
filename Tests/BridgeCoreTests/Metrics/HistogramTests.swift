import BridgeCore
import Testing

@Suite struct HistogramTests {
    @Test(arguments: Histogram.Scale.allCases)
    func `has ascending buckets of its own, each with a label`(scale: Histogram.Scale) {
        let bounds = scale.bounds
        #expect(bounds.count <= 15)
        #expect(bounds == Set(bounds).sorted())
        #expect(scale.labels.count == bounds.count)
    }

    @Test func `takes a value in where it is not more than the bound`() {
        var histogram = Histogram(.count)
        for value: Int64 in [0, 1, 2, 3, 4, 5, 2000] { histogram.observe(value) }
        #expect(histogram.cumulative == [2, 3, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7])
        #expect(histogram.sum == 2015)
    }

    @Test func `counts times in seconds`() {
        var histogram = Histogram(.roundTrip)
        let start = Instant(nanoseconds: 5)
        histogram.observe(from: start, to: start + .milliseconds(1))
        histogram.observe(from: start, to: start + .milliseconds(3))
        #expect(histogram.cumulative.prefix(3) == [1, 2, 2])
        #expect(abs(histogram.sum - 0.004) < 1e-12)
    }

    @Test func `takes what runs backwards for nothing`() {
        var histogram = Histogram(.wait)
        histogram.observe(-5)
        histogram.observe(.min)
        #expect(histogram.cumulative.first == 2)
        #expect(histogram.sum == 0)
    }

    @Test func `has no value that is too large`() {
        var histogram = Histogram(.turn)
        histogram.observe(.max)
        histogram.observe(.max)
        #expect(histogram.cumulative.last == 2)
        #expect(histogram.cumulative.dropLast().last == 0)
        #expect(histogram.sum > 1.8e10)
    }
}
