/// How much the bodies of requests may have together while they arrive.
///
/// Each may have a little without asking, so that those of large or slow requests keep nobody's small message out, and one that is
/// the only one may have as much as it wants: then its own limit bounds it.
package struct BodyRoom: Equatable, Sendable {
    /// What one body has of it.
    package struct Place: Equatable, Sendable {
        /// All of the body so far, in bytes.
        fileprivate var size = 0

        package init() {}

        /// What counts of that.
        fileprivate var share: Int { max(0, size - BodyRoom.free) }
    }

    /// What each may have without asking, in bytes: a fraction of what the head of its request has.
    package static let free = 4 << 10

    /// In bytes.
    package var limit: Int
    package private(set) var used = 0

    package init(limit: Int = .max) {
        self.limit = limit
    }

    /// Takes so many bytes more, or refuses.
    package mutating func take(_ count: Int, for place: inout Place) -> Bool {
        var grown = place
        grown.size += count
        let others = used - place.share
        guard grown.share == 0 || others == 0 || grown.share <= limit - others else { return false }
        used = others + grown.share
        place = grown
        return true
    }

    /// Gives back what a body has.
    package mutating func free(_ place: inout Place) {
        used -= place.share
        place = Place()
    }
}
