/// When the configuration is read again, however often that is asked for (`SIGHUP`).
///
/// To read it takes the loop's time, so between two readings everyone else gets as much as the last one took. What is
/// asked for meanwhile is done by the next one, which reads what there is by then.
package struct ReloadPace: Equatable, Sendable {
    private var isDue = false
    private var earliest: Instant?

    package init() {}

    /// It is asked for; returns after what time to begin, or nil if that is scheduled already.
    package mutating func asked(now: Instant) -> Duration? {
        guard !isDue else { return nil }
        isDue = true
        return earliest.map { max(.zero, $0 - now) } ?? .zero
    }

    /// It begins: what is asked for from here on may have come too late for it.
    package mutating func begins() { isDue = false }

    package mutating func ended(began: Instant, now: Instant) { earliest = now + (now - began) }
}
