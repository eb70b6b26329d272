/// How often something took how long, or was how large, in buckets that are the same for all time.
///
/// A plain value: to observe is to compare and to add, and neither allocates nor counts references.
package struct Histogram: Sendable {
    /// What is measured, and so where its buckets end.
    package enum Scale: Sendable, CaseIterable {
        /// From a heartbeat to its answer.
        case roundTrip
        /// How long a message waited until it was written.
        case wait
        /// How long the loop kept everyone else waiting.
        case turn
        /// How long the disk took.
        case disk
        /// A number of things.
        case count
    }

    package let scale: Scale
    /// One for each bucket, and then that of what is beyond all of them.
    private var counts = InlineArray<16, UInt64>(repeating: 0)
    /// Of all values, in nanoseconds for times.
    private var total = 0.0

    package init(_ scale: Scale) {
        self.scale = scale
    }

    /// Takes a value in: nanoseconds, or a number of things; what is below zero counts as zero.
    package mutating func observe(_ value: Int64) {
        let bounds = scale.bounds
        var place = 0
        while place < bounds.count, bounds[place] < value { place += 1 }
        counts[place] &+= 1
        total += Double(max(0, value))
    }

    /// Takes in the time from one instant to a later one.
    package mutating func observe(from start: Instant, to end: Instant) {
        observe(end.nanoseconds &- start.nanoseconds)
    }

    /// The values up to and with the bound of each bucket, and last all of them.
    package var cumulative: [UInt64] {
        var sum: UInt64 = 0
        return (0...scale.bounds.count).map { place in
            sum &+= counts[place]
            return sum
        }
    }

    /// The sum of all values, in seconds for times.
    package var sum: Double { scale == .count ? total : total / 1e9 }
}

extension Histogram.Scale {
    /// The largest value of each bucket: at most 15, ascending; nanoseconds for times.
    package var bounds: [Int64] {
        switch self {
        case .roundTrip: Histogram.Scale.roundTrips
        case .wait: Histogram.Scale.waits
        case .turn: Histogram.Scale.turns
        case .disk: Histogram.Scale.disks
        case .count: Histogram.Scale.counts
        }
    }

    private static let microsecond: Int64 = 1000
    private static let millisecond: Int64 = 1_000_000
    private static let second: Int64 = 1_000_000_000

    private static let roundTrips =
        [1, 5, 10, 25, 50, 100, 250, 500].map { $0 * millisecond } + [1, 2, 5, 10].map { $0 * second }
    private static let waits =
        [100 * microsecond] + [1, 5, 10, 50, 100, 500].map { $0 * millisecond }
        + [1, 5, 15, 60, 300, 3600].map { $0 * second }
    private static let turns =
        [100 * microsecond] + [1, 5, 10, 25, 50, 100, 250, 500].map { $0 * millisecond }
        + [1, 5].map { $0 * second }
    private static let disks =
        [100 * microsecond, 500 * microsecond] + [1, 5, 10, 25, 50, 100, 250, 500].map { $0 * millisecond }
        + [1, 5].map { $0 * second }
    private static let counts: [Int64] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

    /// The bounds as `le` has them.
    package var labels: [[UInt8]] { Histogram.Scale.allLabels[self] ?? [] }

    /// Written once, for there are as many lines with them as there are connections.
    private static let allLabels: [Histogram.Scale: [[UInt8]]] = Dictionary(
        uniqueKeysWithValues: allCases.map { scale in
            let texts = scale.bounds.map { bound in
                scale == .count ? String(bound) : MetricsText.seconds(nanoseconds: bound)
            }
            return (scale, texts.map { Array($0.utf8) })
        }
    )
}
