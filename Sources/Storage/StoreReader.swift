package import BridgeCore

/// Reads pages of records beside the writer, which it neither waits for nor holds up.
///
/// It reads while a call lasts and holds on to nothing between calls, so that the log can be brought into the file.
/// For one thread at a time.
package final class StoreReader {
    private let database: Database
    private let log: LogWatch
    private let ofOne: Statement
    private let ofAll: Statement
    private let ofOneDescending: Statement
    private let ofAllDescending: Statement
    private let newestThrough: Statement
    private let oldestFrom: Statement
    private let trimmed: Statement

    init(_ path: String, vfs: String?) throws(StorageError) {
        database = try Database(path, .reading, vfs: vfs)
        try database.execute("PRAGMA cache_size = -1024; PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON")
        let columns = "SELECT sequence, connection, ordinal, time, kind, topic, payload FROM records"
        let one = "\(columns) WHERE connection = ?1 AND sequence > ?2 AND sequence <= ?3 ORDER BY sequence"
        let all = "\(columns) WHERE sequence > ?1 AND sequence <= ?2 ORDER BY sequence"
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
        switch question {
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
        return page
    }

    /// Rows that one page looks at, at most, when the connections are some of several.
    private static let mostRows = 4096

    private func records(_ request: StorePageRequest) throws(StorageError) -> StorePage {
        let (after, through) = (Int64(clamping: request.after), Int64(clamping: request.through))
        if let only = request.connections.first, request.connections.count == 1 {
            let rows = request.isDescending ? ofOneDescending : ofOne
            rows.begin(only.number, after, through)
            return try collect(rows, request)
        }
        let rows = request.isDescending ? ofAllDescending : ofAll
        rows.begin(after, through)
        return try collect(rows, request)
    }

    private func collect(_ rows: Statement, _ request: StorePageRequest) throws(StorageError) -> StorePage {
        defer { rows.end() }
        let wanted = Set(request.connections)
        var page = StorePage(position: request.isDescending ? request.through : request.after)
        var bytes = 0
        var looked = 0
        while try rows.next() {
            let sequence = UInt64(clamping: rows.integer(0))
            let connection = StoredConnectionID(number: rows.integer(1))
            if wanted.contains(connection) {
                let record = try record(rows, sequence, connection)
                bytes += record.payload.count
                guard page.records.isEmpty || bytes <= request.maxBytes else { return page }
                page.records.append(record)
            }
            page.position = request.isDescending ? sequence - 1 : sequence
            looked += 1
            guard page.records.count < request.maxRecords, looked < StoreReader.mostRows else { return page }
        }
        page.position = request.isDescending ? request.after : request.through
        return page
    }

    private func record(
        _ rows: Statement,
        _ sequence: UInt64,
        _ connection: StoredConnectionID
    ) throws(StorageError) -> StoredRecord {
        guard let kind = StoredRecord.Kind(rawValue: rows.integer(4)) else {
            throw StorageError(.damaged, path: database.path, detail: "the kind of a record is wrong")
        }
        return StoredRecord(
            sequence: sequence,
            connection: connection,
            ordinal: UInt64(clamping: rows.integer(2)),
            time: WallTime(millisecondsSince1970: rows.integer(3)),
            kind: kind,
            topic: rows.text(5),
            payload: rows.bytes(6)
        )
    }

    // MARK: Places

    /// The newest record up to a sequence, be it the last one that was trimmed; nil if that is later.
    private func start(
        of connection: StoredConnectionID,
        at sequence: UInt64
    ) throws(StorageError) -> StoredStart? {
        newestThrough.begin(connection.number, Int64(clamping: sequence))
        defer { newestThrough.end() }
        if try newestThrough.next() {
            return StoredStart(
                sequence: UInt64(clamping: newestThrough.integer(0)),
                next: UInt64(clamping: newestThrough.integer(1)) + 1
            )
        }
        trimmed.begin(connection.number)
        defer { trimmed.end() }
        guard try trimmed.next() else { return nil }
        let start = StoredStart(
            sequence: UInt64(clamping: trimmed.integer(0)),
            next: UInt64(clamping: trimmed.integer(1))
        )
        return start.sequence <= sequence ? start : nil
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
        defer { oldestFrom.end() }
        // Everything before `low` is too old; what is not, and is first, stands before `high`, or is `first`.
        var (low, high) = (Int64(0), Int64.max)
        var first: UInt64?
        while low < high {
            let middle = low + (high - low) / 2
            oldestFrom.begin(connection.number, middle)
            guard try oldestFrom.next() else {
                high = middle
                continue
            }
            if WallTime(millisecondsSince1970: oldestFrom.integer(1)) < time {
                low = oldestFrom.integer(0) + 1
            } else {
                first = UInt64(clamping: oldestFrom.integer(0))
                high = middle
            }
        }
        return first
    }
}
