/// Whether a head has more in it than libmicrohttpd shows.
///
/// A field's line ends for it at a NUL in the value; the continuation of a folded line becomes part of the *name*. But
/// names and values lie in its buffer as they came, so what is missing shows in the distances between them.
nonisolated struct HeadSpacing {
    private(set) var isWhole = true
    /// Where the last value ended.
    private var position: Int?
    /// Some line ended with LF alone, so there is no reason to take more than that for the end of another.
    private var hasBareLineFeed = false

    /// After a value comes CR LF, or LF.
    private static let lineEnd = 1...2
    /// The same, and an empty line.
    private static let headEnd = 2...4
    private static let bareHeadEnd = 2...3

    /// A field begins at `start` and its value ends at `end`.
    mutating func pass(from start: Int, to end: Int) {
        expect(start, within: HeadSpacing.lineEnd)
        if let position, start - position == 1 { hasBareLineFeed = true }
        position = end
    }

    mutating func end(at end: Int) {
        expect(end, within: hasBareLineFeed ? HeadSpacing.bareHeadEnd : HeadSpacing.headEnd)
    }

    private mutating func expect(_ next: Int, within distance: ClosedRange<Int>) {
        if let position, !distance.contains(next - position) { isWhole = false }
    }
}
