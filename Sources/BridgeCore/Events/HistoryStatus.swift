/// What the event log keeps of a connection, for its status.
package struct HistoryStatus: Equatable, Sendable {
    package var messages: Int
    package var bytes: Int
    /// Nil when nothing is kept.
    package var oldest: EventID?
    package var newest: EventID?

    package init(messages: Int, bytes: Int, oldest: EventID?, newest: EventID?) {
        self.messages = messages
        self.bytes = bytes
        self.oldest = oldest
        self.newest = newest
    }

    /// Writes the members of the status' `history` object.
    package func writeMembers(to json: inout JSONWriter) {
        json.member("messages", messages)
        json.member("bytes", bytes)
        json.member("oldest", oldest?.text)
        json.member("newest", newest?.text)
    }
}
