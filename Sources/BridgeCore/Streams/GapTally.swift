/// Counts the gaps that the streams of a connection were told of.
package struct GapTally: Equatable, Sendable {
    /// What led to a gap.
    package enum Reason: String, CaseIterable, Sendable {
        /// It had not been read when it went, by one that came to read it: its id, or the time that it asked for, was too
        /// long ago.
        case evicted
        /// The history outran a stream that was being read.
        case slow
        /// Nobody knows what was lost: the bridge was started anew without a store, or the id is of another time.
        case unknown

        /// That of a gap; `wasReading`: the stream had begun before.
        package init(_ gap: Gap, wasReading: Bool) {
            self = gap.missed == nil ? .unknown : wasReading ? .slow : .evicted
        }
    }

    private var counts: [Reason: Int] = [:]

    package init() {}

    package mutating func count(_ reason: Reason) { counts[reason, default: 0] += 1 }

    package subscript(reason: Reason) -> Int { counts[reason] ?? 0 }

    package var total: Int { counts.values.reduce(0, +) }
}
