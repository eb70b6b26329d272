/// A reader that asks for what is there, once or until there is something.
package struct Poll: Equatable, Sendable {
    package let filter: StreamFilter
    private let limit: Int
    private var cursor: LogCursor
    /// What there was when it began, or went on, is looked through for it.
    private var horizon: UInt64
    private var records: [Record] = []
    private var gap: Gap?
    /// The newest entry that was read.
    private var last: UInt64 = 0
    /// What may still be answered of payload, but for one record that is larger.
    private var room = Poll.maxBytes

    private static let maxBytes = 4 << 20
    /// What is taken out of the log at a time.
    private static let pieceRecords = 256
    private static let pieceBytes = 16 * 1024
    /// The same of the disk, where a piece costs more.
    private static let pageBytes = 64 * 1024

    /// Begins to read; `limit` is how many records are answered at most.
    package init(_ filter: StreamFilter, limit: Int, start: StartPosition, in log: EventLog) {
        self.filter = filter
        self.limit = limit
        cursor = log.cursor(at: start, of: filter.connections)
        horizon = log.headSequence
    }

    /// What came of reading on.
    package enum Progress: Equatable, Sendable {
        /// That was all there is, or all that goes into one answer.
        case through
        /// The allowance is spent.
        case spent
        /// The disk has to be asked, and what it says to be taken.
        case asks(StoreQuestion)
    }

    /// Reads on, as far as the allowance reaches.
    ///
    /// It ends behind what there was when it began: who looked on to the head might not catch up with a fast upstream.
    package mutating func read(_ log: EventLog, _ allowance: inout SearchAllowance) -> Progress {
        while records.count < limit, room > 0 {
            guard !allowance.isSpent else { return .spent }
            let count = min(Poll.pieceRecords, limit - records.count)
            if let question = log.question(
                for: cursor,
                maxRecords: count,
                maxBytes: min(room, Poll.pageBytes)
            ) {
                return .asks(question)
            }
            let entries = log.read(&cursor, maxRecords: count, maxBytes: min(room, Poll.pieceBytes))
            guard !entries.isEmpty, take(entries, log, &allowance), cursor.position < horizon else { break }
        }
        return .through
    }

    /// Goes on with what the disk said; `read` has to follow, unless that was all that goes into one answer.
    ///
    /// - Returns: whether it was.
    package mutating func take(
        _ answer: StoreAnswer,
        in log: EventLog,
        _ allowance: inout SearchAllowance
    ) -> Bool {
        !take(log.read(&cursor, answer, by: filter), log, &allowance)
    }

    /// Whether one may read on.
    private mutating func take(
        _ entries: [LogEntry],
        _ log: EventLog,
        _ allowance: inout SearchAllowance
    ) -> Bool {
        for entry in entries {
            switch entry {
            case .gap where hasFound:
                // What was lost while this looked on is told before the next answer.
                cursor = log.cursor(following: last, of: filter.connections)
                return false
            case .gap(let found):
                gap = found
                last = found.id.sequence
            case .record(let record) where filter.accepts(record):
                records.append(record)
                room -= record.byteCount
                last = record.sequence
            case .record(let record):
                allowance.spend(on: record, filter)
                last = record.sequence
            }
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
        return PollPage(records: records, next: log.id(cursor.resumption), gap: gap)
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
