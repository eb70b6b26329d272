/// Where a reader wants to begin.
package enum StartPosition: Equatable, Sendable {
    /// With the next record.
    case now
    /// With the oldest that is kept, whatever was lost before.
    case start
    /// After a record that was seen.
    case after(EventID)
    /// With the first record that is not older than this.
    case since(WallTime)
    /// With the newest records, so many of them.
    case last(Int)

    /// Reads the forms of `since=` that need no clock: `now`, `start`, an id, a time.
    ///
    /// Nil for others; a duration is for the caller, who has the clock.
    package init?(since text: some StringProtocol) {
        if text == "now" {
            self = .now
        } else if text == "start" {
            self = .start
        } else if let id = EventID(text: text) {
            self = .after(id)
        } else if let time = WallTime(text: text) {
            self = .since(time)
        } else {
            return nil
        }
    }
}
