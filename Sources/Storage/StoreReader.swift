package import BridgeCore

/// Reads pages of records beside the writer, which it neither waits for nor holds up.
///
/// It reads while a call lasts and holds on to nothing between calls, so that the log can be brought into the file.
/// What is damaged is passed over. For one thread at a time.
package final class StoreReader {
    private let database: Database
    private let log: LogWatch
    private let ofOne: Statement
    let ofAll: Statement
    private let ofOneDescending: Statement
    let ofAllDescending: Statement
    private let newestThrough: Statement
    let oldestFrom: Statement
    private let trimmed: Statement
    /// What the answer before had to pass over; nil: nothing.
    private(set) var damage: StorageError?
    /// What the disk does not give is passed over as well, as if it were damaged.
    var passesFailures = false

    init(_ path: String, vfs: String?) throws(StorageError) {
        database = try Database(path, .reading, vfs: vfs)
        try database.execute("PRAGMA cache_size = -1024; PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON")
        let columns = "SELECT sequence, connection, ordinal, time, kind, topic, payload FROM records"
        let one = "\(columns) WHERE connection = ?1 AND sequence BETWEEN ?2 AND ?3 ORDER BY sequence"
        let all = "\(columns) WHERE sequence BETWEEN ?1 AND ?2 ORDER BY sequence"
        ofOne = try database.prepare(one)
        ofAll = try database.prepare(all)
        ofOneDescending = try database.prepare("\(one) DESC")
        ofAllDescending = try database.prepare("\(all) DESC")
        newestThrough = try database.prepare(
            """
            SELECT sequence, ordinal FROM records WHERE connection = ? AND sequence <= ? ORDER BY sequence DESC
                LIMIT 1
            """
        )
        oldestFrom = try database.prepare(
            """
            SELECT sequence, time FROM records WHERE connection = ? AND sequence >= ? ORDER BY sequence LIMIT 1
            """
        )
        trimmed = try database.prepare("SELECT trimmed_through, trimmed FROM connections WHERE id = ?")
        log = LogWatch(database)
    }

    /// The log is the one that the writer writes; if not, a new reader has to be made.
    var isCurrent: Bool { log.look(at: database) != .gone }

    package func answer(_ question: StoreQuestion) throws(StorageError) -> StoreAnswer {
        damage = nil
        return switch question {
        case .page(let request): .page(try page(request))
        case .since(let time, let connections): .since(try position(since: time, of: connections))
        }
    }

    /// The records of one page.
    package func page(_ request: StorePageRequest) throws(StorageError) -> StorePage {
        // All of it as of one moment.
        try database.execute("BEGIN")
        defer { try? database.execute("COMMIT") }
        var page = try records(request)
        for connection in request.starts {
            page.starts[connection] = try start(of: connection, at: request.after)
        }
        // For those who would begin with whatever is the oldest, and begin with what is damaged.
        for connection in request.connections where page.isDamaged && !request.starts.contains(connection) {
            page.starts[connection] = try begin(of: connection)
        }
        return page
    }

    /// Rows that one page looks at, at most, when the connections are some of several.
    private static let mostRows = 4096

    private func records(_ request: StorePageRequest) throws(StorageError) -> StorePage {
        let (first, last) = (request.first, request.last)
        if let only = request.connections.first, request.connections.count == 1 {
            let rows = request.isDescending ? ofOneDescending : ofOne
            rows.begin(only.number, first, last)
            if let page = try collect(rows, request) { return page }
            // It may be no more than the index that is damaged.
        }
        let rows = request.isDescending ? ofAllDescending : ofAll
        rows.begin(first, last)
        guard let page = try collect(rows, request) else { return try passDamage(request) }
        return page
    }

    /// Nil: it would begin with what cannot be read.
    private func collect(_ rows: Statement, _ request: StorePageRequest) throws(StorageError) -> StorePage? {
        defer { rows.end() }
        let wanted = Set(request.connections)
        var page = StorePage(position: request.isDescending ? request.through : request.after)
        var bytes = 0
        var looked = 0
        do throws(StorageError) {
            while try rows.next() {
                let sequence = UInt64(clamping: rows.integer(0))
                guard sequence > 0, request.isDescending == (sequence <= page.position) else {
                    throw StorageError(.damaged, path: database.path, detail: "records are in disorder")
                }
                if wanted.contains(StoredConnectionID(number: rows.integer(1))) {
                    let record = try record(rows)
                    bytes += record.payload.count
                    guard page.records.isEmpty || bytes <= request.maxBytes else { return page }
                    page.records.append(record)
                }
                page.position = request.isDescending ? sequence - 1 : sequence
                looked += 1
                guard page.records.count < request.maxRecords, looked < StoreReader.mostRows else {
                    return page
                }
            }
        } catch {
            // What could be read comes first.
            guard looked == 0 else { return page }
            try pass(error)
            return nil
        }
        page.position = request.isDescending ? request.after : request.through
        return page
    }

    /// Takes note of damage, or throws what is none.
    func pass(_ error: StorageError) throws(StorageError) {
        guard error.reason == .damaged || (passesFailures && error.reason == .failing) else { throw error }
        damage = error
    }

    /// The row that a statement of records stands at.
    func record(_ rows: Statement) throws(StorageError) -> StoredRecord {
        guard let kind = StoredRecord.Kind(rawValue: rows.integer(4)) else {
            throw StorageError(.damaged, path: database.path, detail: "the kind of a record is wrong")
        }
        return StoredRecord(
            sequence: UInt64(clamping: rows.integer(0)),
            connection: StoredConnectionID(number: rows.integer(1)),
            ordinal: UInt64(clamping: rows.integer(2)),
            time: WallTime(millisecondsSince1970: rows.integer(3)),
            kind: kind,
            topic: rows.text(5),
            payload: rows.bytes(6)
        )
    }

    // MARK: Places

    /// The newest record up to a sequence, be it the last one that was trimmed; nil if that is later, or not known.
    private func start(
        of connection: StoredConnectionID,
        at sequence: UInt64
    ) throws(StorageError) -> StoredStart? {
        do throws(StorageError) {
            if let start = try newest(of: connection, through: sequence) { return start }
            return try lastTrimmed(of: connection).flatMap { $0.sequence <= sequence ? $0 : nil }
        } catch {
            try pass(error)
            return try itself(sequence, of: connection)
        }
    }

    /// Where the oldest record stands, or stood.
    private func begin(of connection: StoredConnectionID) throws(StorageError) -> StoredStart? {
        do throws(StorageError) {
            return try lastTrimmed(of: connection)
        } catch {
            try pass(error)
            return nil
        }
    }

    private func newest(
        of connection: StoredConnectionID,
        through sequence: UInt64
    ) throws(StorageError) -> StoredStart? {
        newestThrough.begin(connection.number, Int64(clamping: sequence))
        defer { newestThrough.end() }
        guard try newestThrough.next() else { return nil }
        return StoredStart(
            sequence: UInt64(clamping: newestThrough.integer(0)),
            next: UInt64(clamping: newestThrough.integer(1)) + 1
        )
    }

    private func lastTrimmed(of connection: StoredConnectionID) throws(StorageError) -> StoredStart? {
        trimmed.begin(connection.number)
        defer { trimmed.end() }
        guard try trimmed.next() else { return nil }
        return StoredStart(
            sequence: UInt64(clamping: trimmed.integer(0)),
            next: UInt64(clamping: trimmed.integer(1))
        )
    }

    private func position(
        since time: WallTime,
        of connections: [StoredConnectionID]
    ) throws(StorageError) -> UInt64? {
        try database.execute("BEGIN")
        defer { try? database.execute("COMMIT") }
        var first: UInt64?
        for connection in connections {
            guard let sequence = try self.first(since: time, of: connection) else { continue }
            first = min(first ?? sequence, sequence)
        }
        return first.map { $0 - 1 }
    }

    /// Halves what is left until there is nothing older behind it: times grow with the sequences.
    private func first(
        since time: WallTime,
        of connection: StoredConnectionID
    ) throws(StorageError) -> UInt64? {
        // Everything before `low` is too old; what is not, and is first, stands before `high`, or is `first`.
        var (low, high) = (Int64(1), Int64.max)
        var first: UInt64?
        while low < high {
            let middle = low + (high - low) / 2
            guard let found = try oldest(from: middle, of: connection, since: time) else {
                high = middle
                continue
            }
            if found.isTooOld {
                // A sequence that is wrong must not lead astray.
                low = max(middle, min(found.sequence, .max - 1)) + 1
            } else {
                first = UInt64(clamping: found.sequence)
                high = middle
            }
        }
        return first
    }
}

extension StorePageRequest {
    /// The sequences of which it asks.
    var first: Int64 { Int64(clamping: min(after, .max - 1) + 1) }
    var last: Int64 { Int64(clamping: through) }
}
