/// A reader that asks for what is there, once or until there is something.
package struct Poll: Equatable, Sendable {
    package let filter: StreamFilter
    private let limit: Int
    private var cursor: LogCursor
    /// What there was when it began, or went on, is looked through for it.
    private var horizon: UInt64
    private var records: [Record] = []
    private var gap: Gap?
    /// What may still be answered of payload, but for one record that is larger.
    private var room = Poll.maxBytes

    private static let maxBytes = 4 << 20
    /// What is taken out of the log at a time.
    private static let pieceRecords = 256
    private static let pieceBytes = 16 * 1024

    /// Begins to read; `limit` is how many records are answered at most.
    package init(_ filter: StreamFilter, limit: Int, start: StartPosition, in log: EventLog) {
        self.filter = filter
        self.limit = limit
        cursor = log.cursor(at: start, of: filter.connections)
        horizon = log.headSequence
    }

    /// Reads on, as far as the allowance reaches.
    ///
    /// It ends behind what there was when it began: who looked on to the head might not catch up with a fast upstream.
    ///
    /// - Returns: whether that was all there is, or all that goes into one answer.
    package mutating func read(_ log: EventLog, _ allowance: inout SearchAllowance) -> Bool {
        while records.count < limit, room > 0 {
            guard !allowance.isSpent else { return false }
            let count = min(Poll.pieceRecords, limit - records.count)
            let before = cursor
            let entries = log.read(&cursor, maxRecords: count, maxBytes: min(room, Poll.pieceBytes))
            if case .gap = entries.first, hasFound {
                // What was lost while this looked on is told before the next answer.
                cursor = before
                break
            }
            guard !entries.isEmpty else { break }
            for entry in entries {
                switch entry {
                case .gap(let found):
                    gap = found
                case .record(let record) where filter.accepts(record):
                    records.append(record)
                    room -= record.byteCount
                case .record(let record):
                    allowance.spend(on: record, filter)
                }
            }
            if cursor.position >= horizon { break }
        }
        return true
    }

    /// Passes over what came before a record, for one that has read what there was when it began, and knows that none of
    /// what came since is wanted before that.
    package mutating func skip(to sequence: UInt64, in log: EventLog) {
        cursor = log.cursor(following: max(cursor.position, sequence - 1), of: filter.connections)
        horizon = log.headSequence
    }

    /// Whether there is anything to answer but the cursor.
    package var hasFound: Bool { !records.isEmpty || gap != nil }

    /// Answers what was read since the last answer, which may be nothing.
    package mutating func page(_ log: EventLog) -> PollPage {
        defer { (records, gap, room) = ([], nil, Poll.maxBytes) }
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
