/// What a reader of the event log has seen, over the connections that it reads.
///
/// Made by `EventLog.cursor(at:of:)`, moved by `EventLog.read`, and before that by `EventLog.goBack` if it `isSeeking`.
/// While a reader holds it, its losses are counted exactly.
package struct LogCursor: Equatable, Sendable {
    struct Place: Equatable, Sendable {
        let connection: ConnectionIndex
        /// The ordinal of the next record to read, or to be told of as lost.
        var next: UInt64
        /// What was lost before this ordinal was so when the reader began.
        var begin: UInt64
    }

    /// Losses that no place tells of, to be announced with the next gap.
    struct Loss: Equatable, Sendable {
        /// Nil: unknown.
        var count: UInt64?
        /// The sequence of the last lost record.
        var last: UInt64

        static func + (left: Loss?, right: Loss) -> Loss {
            guard let left else { return right }
            let count = left.count.flatMap { count in right.count.map { count + $0 } }
            return Loss(count: count, last: max(left.last, right.last))
        }
    }

    /// Everything up to this sequence has been seen, filtered out, or announced as lost.
    package internal(set) var position: UInt64
    var places: [Place]
    var loss: Loss?
    /// How many records it is still to go back by, of those that the reader wants.
    var wanted = 0

    /// Whether `EventLog.goBack` has not found yet where this reader begins.
    package var isSeeking: Bool { wanted > 0 }
}
