package import BridgeCore

/// How the writer fares.
package struct StoreMeter: Sendable {
    /// From taking a group to it being written, and synced if that was waited for.
    package private(set) var times = Histogram(.disk)
    /// Changes that were written together.
    package private(set) var sizes = Histogram(.count)

    package init() {}

    mutating func wrote(_ letters: [StoreMailbox.Letter], from start: Instant, to end: Instant) {
        times.observe(from: start, to: end)
        sizes.observe(Int64(letters.reduce(0) { $0 + $1.entries }))
    }
}

extension StoreMailbox.Letter {
    /// How many changes it has.
    fileprivate var entries: Int {
        switch content {
        case .offers(let offers, _): offers.count
        case .facts(let facts): facts.count
        case .end: 1
        }
    }
}
