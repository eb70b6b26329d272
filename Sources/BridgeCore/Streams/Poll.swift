/// A reader that asks for what is there, once or until there is something.
package struct Poll: Equatable, Sendable {
    package let filter: StreamFilter
    private let limit: Int
    private var cursor: LogCursor

    /// What one answer holds at most of payload, but for one record that is larger.
    private static let maxBytes = 4 << 20

    /// Begins to read; `limit` is how many records are answered at most.
    package init(_ filter: StreamFilter, limit: Int, start: StartPosition, in log: EventLog) {
        self.filter = filter
        self.limit = limit
        cursor = log.cursor(at: start, of: filter.connections, where: filter.accepts)
    }

    /// The next records, oldest first.
    package mutating func read(_ log: EventLog) -> PollPage {
        var records: [Record] = []
        var gap: Gap?
        var room = Poll.maxBytes
        while records.count < limit, room > 0 {
            let entries = log.read(&cursor, maxRecords: limit - records.count, maxBytes: room)
            guard !entries.isEmpty else { break }
            for entry in entries {
                switch entry {
                case .gap(let found):
                    gap = found
                case .record(let record) where filter.accepts(record):
                    records.append(record)
                    room -= record.byteCount
                case .record:
                    break
                }
            }
        }
        return PollPage(records: records, next: log.id(cursor.position), gap: gap)
    }
}

/// What a poll found.
package struct PollPage: Equatable, Sendable {
    package var records: [Record]
    /// The cursor for the next poll.
    package var next: EventID
    /// What was lost before the first record.
    package var gap: Gap?

    /// There is nothing to tell but the cursor.
    package var isEmpty: Bool { records.isEmpty && gap == nil }

    /// Writes the members of the answer; `log` is the one that was read.
    package func writeMembers(to json: inout JSONWriter, log: EventLog) {
        json.member("messages") { json in
            json.array { json in
                for record in records {
                    json.element(record, of: log.name(of: record.connection), epoch: log.epoch)
                }
            }
        }
        json.member("next", next.text)
        if let gap {
            json.member("gap") { json in json.object(gap.writeMembers) }
        } else {
            json.member("gap", null: ())
        }
    }
}
