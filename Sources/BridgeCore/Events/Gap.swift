/// Records that a reader will never see, announced where they would have stood.
package struct Gap: Equatable, Sendable {
    /// How many records of the selected connections were lost, filtered or not; nil if that is not known.
    package var missed: UInt64?
    /// The gap's own id, after which a reader that comes back goes on: that of the last lost record.
    ///
    /// Where it is not known any more which that was, the id lies somewhere before the next record.
    package var id: EventID
    /// The oldest record after it that is kept of the selected connections; nil if there is none.
    package var oldest: EventID?

    package init(missed: UInt64?, id: EventID, oldest: EventID?) {
        self.missed = missed
        self.id = id
        self.oldest = oldest
    }

    /// Writes `missed` and `oldest`, which every form of a gap has.
    package func writeMembers(to json: inout JSONWriter) {
        json.member("missed", ifPresent: missed)
        json.member("oldest", oldest?.text)
    }
}

/// What a reader of the event log gets.
package enum LogEntry: Equatable, Sendable {
    case record(Record)
    case gap(Gap)
}
