package import BridgeCore

/// Reads pages of records beside the writer, which it neither waits for nor holds up.
///
/// It reads while a call lasts and holds on to nothing between calls, so that the log can be brought into the file.
/// For one thread at a time.
package final class StoreReader {
    private let database: Database
    private let ofOne: Statement
    private let ofAll: Statement
    private let gaps: Statement

    init(_ path: String, vfs: String?) throws(StorageError) {
        database = try Database(path, .reading, vfs: vfs)
        try database.execute("PRAGMA cache_size = -1024; PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON")
        let columns = "SELECT sequence, connection, time, kind, topic, payload FROM records"
        ofOne = try database.prepare(
            "\(columns) WHERE connection = ?1 AND sequence > ?2 AND sequence <= ?3 ORDER BY sequence"
        )
        ofAll = try database.prepare("\(columns) WHERE sequence > ?1 AND sequence <= ?2 ORDER BY sequence")
        gaps = try database.prepare(
            "SELECT first, last, connection, missed FROM gaps WHERE last > ? AND last <= ? ORDER BY last"
        )
    }

    /// The records of one page, with the gaps that stand between them.
    package func page(_ request: StorePageRequest) throws(StorageError) -> StorePage {
        try database.execute("BEGIN")
        defer { try? database.execute("COMMIT") }
        let (records, position) = try records(request)
        let gaps = try gaps(after: request.after, through: position, of: Set(request.connections))
        var page = StorePage(position: position)
        var next = 0
        for record in records {
            while next < gaps.count, gaps[next].sequences.upperBound < record.sequence {
                page.entries.append(.gap(gaps[next]))
                next += 1
            }
            page.entries.append(.record(record))
        }
        page.entries += gaps[next...].map { .gap($0) }
        return page
    }

    /// Rows that one page looks at, at most, when the connections are some of several.
    private static let mostRows = 4096

    private func records(
        _ request: StorePageRequest
    ) throws(StorageError) -> (records: [StoredRecord], position: UInt64) {
        let wanted = Set(request.connections)
        let (after, through) = (Int64(clamping: request.after), Int64(clamping: request.through))
        if let only = request.connections.first, request.connections.count == 1 {
            ofOne.begin(only.number, after, through)
            return try collect(ofOne, wanted, request)
        }
        ofAll.begin(after, through)
        return try collect(ofAll, wanted, request)
    }

    private func collect(
        _ rows: Statement,
        _ wanted: Set<StoredConnectionID>,
        _ request: StorePageRequest
    ) throws(StorageError) -> (records: [StoredRecord], position: UInt64) {
        defer { rows.end() }
        var records: [StoredRecord] = []
        var bytes = 0
        var looked = 0
        var position = request.after
        while try rows.next() {
            let sequence = UInt64(clamping: rows.integer(0))
            let connection = StoredConnectionID(number: rows.integer(1))
            let time = WallTime(millisecondsSince1970: rows.integer(2))
            if wanted.contains(connection), request.earliest.map({ time >= $0 }) ?? true {
                let record = try record(rows, sequence, connection, time)
                bytes += record.payload.count
                guard records.isEmpty || bytes <= request.maxBytes else { return (records, position) }
                records.append(record)
            }
            position = sequence
            looked += 1
            guard records.count < request.maxRecords, looked < StoreReader.mostRows else {
                return (records, position)
            }
        }
        return (records, request.through)
    }

    private func record(
        _ rows: Statement,
        _ sequence: UInt64,
        _ connection: StoredConnectionID,
        _ time: WallTime
    ) throws(StorageError) -> StoredRecord {
        guard let kind = StoredRecord.Kind(rawValue: rows.integer(3)) else {
            throw StorageError(.damaged, path: database.path, detail: "the kind of a record is wrong")
        }
        return StoredRecord(
            sequence: sequence,
            connection: connection,
            time: time,
            kind: kind,
            topic: rows.text(4),
            payload: rows.bytes(5)
        )
    }

    private func gaps(
        after: UInt64,
        through: UInt64,
        of wanted: Set<StoredConnectionID>
    ) throws(StorageError) -> [StoredGap] {
        var found: [StoredGap] = []
        gaps.begin(Int64(clamping: after), Int64(clamping: through))
        while try gaps.next() {
            let first = UInt64(clamping: gaps.integer(0))
            var gap = StoredGap(
                min(first, UInt64(clamping: gaps.integer(1)))...UInt64(clamping: gaps.integer(1))
            )
            if !gaps.isNull(2) { gap.connection = StoredConnectionID(number: gaps.integer(2)) }
            if !gaps.isNull(3) { gap.missed = UInt64(clamping: gaps.integer(3)) }
            if gap.connection.map(wanted.contains) ?? true { found.append(gap) }
        }
        return found
    }
}
