import BridgeCore
import WebSocketTestSupport

/// What a store does with records, without a file.
struct DiskDouble {
    private(set) var rows: [StoredRecord] = []
    private(set) var sequences: Set<UInt64> = []
    /// Those that are there and cannot be read.
    private(set) var hidden: Set<UInt64> = []
    private var everStored: Set<UInt64> = []
    private(set) var histories: [StoredConnectionID: StoredHistory] = [:]
    private(set) var names: [StoredConnectionID: String] = [:]
    private(set) var gaps: [StoredGap] = []
    private(set) var head: UInt64 = 0
    private let epoch: Epoch
    private static let reservation: UInt64 = 1000

    init(_ names: [String], epoch: Epoch) {
        self.epoch = epoch
        for (number, name) in names.enumerated() {
            let id = StoredConnectionID(number: Int64(number + 1))
            self.names[id] = name
            histories[id] = StoredHistory()
        }
    }

    func wasStored(_ sequence: UInt64) -> Bool { everStored.contains(sequence) }

    var ids: [StoredConnectionID] { names.keys.sorted() }

    mutating func store(_ records: [StoredRecord]) {
        for record in records {
            rows.append(record)
            sequences.insert(record.sequence)
            everStored.insert(record.sequence)
            head = record.sequence
            guard var history = histories[record.connection] else { continue }
            if history.records == 0 { history.oldest = record.sequence }
            history.records += 1
            history.bytes += record.payload.count
            if history.recorded > 0, record.ordinal > history.recorded {
                (history.skipped, history.skippedThrough) = (record.ordinal, record.sequence - 1)
            }
            history.recorded = record.ordinal + 1
            history.newest = record.sequence
            histories[record.connection] = history
        }
    }

    mutating func note(_ fact: StoreFact) {
        guard case .unstored(let id, let sequence, let recorded) = fact, var history = histories[id] else {
            return
        }
        head = max(head, sequence)
        if recorded > history.recorded {
            history.recorded = recorded
            history.newest = max(history.newest, sequence)
            (history.skipped, history.skippedThrough) = (recorded, sequence)
        }
        histories[id] = history
    }

    /// Trims the oldest records beyond so many, at most `most`.
    mutating func trim(_ id: StoredConnectionID, to limit: Int, atMost most: Int) -> [StoredTrim] {
        var trims: [StoredTrim] = []
        guard var history = histories[id] else { return [] }
        while history.records > limit, trims.reduce(0, { $0 + $1.ordinals.count }) < most,
            let index = rows.firstIndex(where: { $0.connection == id })
        {
            let row = rows.remove(at: index)
            sequences.remove(row.sequence)
            let isMore = trims.last.map { _ in
                trims[trims.count - 1].extend(row.sequence, of: id, ordinal: row.ordinal)
            }
            if isMore != true { trims.append(StoredTrim(row.sequence, of: id, ordinal: row.ordinal)) }
            history.records -= 1
            history.bytes -= row.payload.count
            history.trimmed = row.ordinal + 1
            history.trimmedThrough = row.sequence
            history.trimmedAt = row.time
        }
        history.oldest = rows.first { $0.connection == id }?.sequence ?? 0
        histories[id] = history
        return trims
    }

    /// Damages what stands in a row.
    mutating func damage(_ places: Range<Int>) {
        for place in places.clamped(to: rows.indices) { hidden.insert(rows[place].sequence) }
    }

    /// What is there when the process has ended.
    mutating func reopen(isClean: Bool) -> StoreRecovery {
        if !isClean {
            gaps.append(StoredGap(head + 1...head + DiskDouble.reservation, .end))
            head += DiskDouble.reservation
        }
        var recovery = StoreRecovery(
            epoch: epoch,
            headSequence: head,
            nextConnection: StoredConnectionID(number: Int64(names.count + 1))
        )
        recovery.gaps = gaps
        for id in ids {
            var connection = StoredConnection(id: id, name: names[id] ?? "")
            connection.history = histories[id] ?? StoredHistory()
            recovery.connections.append(connection)
        }
        return recovery
    }

    func answer(_ question: StoreQuestion) -> StoreAnswer {
        switch question {
        case .since(let time, let ids):
            let first = ids.compactMap { id in
                rows.indices.first { rows[$0].connection == id && maySuffice(rows[$0...], time) }
            }
            return .since(first.min().map { rows[$0].sequence - 1 })
        case .page(let request):
            var page = page(request)
            for id in request.starts { page.starts[id] = start(of: id, at: request.after) }
            for id in request.connections where page.isDamaged && !request.starts.contains(id) {
                guard let history = histories[id] else { continue }
                page.starts[id] = StoredStart(sequence: history.trimmedThrough, next: history.trimmed)
            }
            return .page(page)
        }
    }

    /// Whether the first row is not older, or cannot be read while what follows is not older.
    private func maySuffice(_ rows: ArraySlice<StoredRecord>, _ time: WallTime) -> Bool {
        rows.first { !hidden.contains($0.sequence) }.map { $0.time >= time } ?? true
    }

    private func page(_ request: StorePageRequest) -> StorePage {
        var page = StorePage(position: request.isDescending ? request.through : request.after)
        let end = request.isDescending ? request.after : request.through
        let range = rows.filter { $0.sequence > request.after && $0.sequence <= request.through }
        let ordered = request.isDescending ? range.reversed() : range
        if let first = ordered.first, hidden.contains(first.sequence) {
            let next = ordered.first { !hidden.contains($0.sequence) }?.sequence
            page.position = next.map { request.isDescending ? $0 : $0 - 1 } ?? end
            page.isDamaged = true
            return page
        }
        var bytes = 0
        for row in ordered {
            guard !hidden.contains(row.sequence) else { return page }
            if request.connections.contains(row.connection) {
                bytes += row.payload.count
                guard page.records.isEmpty || bytes <= request.maxBytes,
                    page.records.count < request.maxRecords
                else { return page }
                page.records.append(row)
            }
            page.position = request.isDescending ? row.sequence - 1 : row.sequence
        }
        page.position = end
        return page
    }

    private func start(of id: StoredConnectionID, at sequence: UInt64) -> StoredStart? {
        if let row = rows.last(where: { $0.connection == id && $0.sequence <= sequence }) {
            guard !hidden.contains(row.sequence) else { return nil }
            return StoredStart(sequence: row.sequence, next: row.ordinal + 1)
        }
        guard let history = histories[id], history.trimmedThrough <= sequence else { return nil }
        return StoredStart(sequence: history.trimmedThrough, next: history.trimmed)
    }
}
