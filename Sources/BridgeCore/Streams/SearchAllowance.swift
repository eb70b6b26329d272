/// How many records readers may still pass over before everyone else gets their turn.
///
/// A reader with a filter may have to look through a whole history before it finds what it wants. It does so in
/// pieces of a fraction of a millisecond, which all such readers share.
package struct SearchAllowance: Equatable, Sendable {
    private var left: Int

    /// What looking at the outside of a record costs, in bytes that could be looked through meanwhile.
    private static let envelopeBytes = 64

    /// Enough for looking through messages of `bytes`, or at the outside of a 64th as many.
    package init(bytes: Int = 16 * 1024) {
        left = bytes
    }

    package var isSpent: Bool { left <= 0 }

    /// Takes off what it cost to ask whether the filter accepts a record.
    package mutating func spend(on record: Record, _ filter: StreamFilter) {
        let content = filter.content.isEmpty ? 0 : record.byteCount
        left -= min(left, SearchAllowance.envelopeBytes + content)
    }
}
