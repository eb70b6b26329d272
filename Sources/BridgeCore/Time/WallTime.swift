/// A time of day: milliseconds since 1970-01-01T00:00:00Z.
///
/// For people and records, never for intervals.
package struct WallTime: Comparable, Hashable, Sendable {
    package var millisecondsSince1970: Int64

    package init(millisecondsSince1970: Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    package static func < (left: WallTime, right: WallTime) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }
}
