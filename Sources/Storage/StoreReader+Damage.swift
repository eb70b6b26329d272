internal import BridgeCore

/// What can still be read of a store that is damaged.
///
/// Records stand in the order of their sequences, in pages of SQLite's that are found from above: one that is damaged
/// hides what is in it, and what follows is there all the same.
extension StoreReader {
    /// A page that has nothing, and ends where reading goes on.
    func passDamage(_ request: StorePageRequest) throws(StorageError) -> StorePage {
        let (first, last) = (request.first, request.last)
        let isDescending = request.isDescending
        let rows = isDescending ? ofAllDescending : ofAll
        let limit = max(0, last - first) + 1
        let passed = try distance(upTo: limit) { (distance: Int64) throws(StorageError) in
            if isDescending { rows.begin(first, last - distance) } else { rows.begin(first + distance, last) }
            return try isReadable(rows)
        }
        let position = isDescending ? request.through - UInt64(passed) : request.after + UInt64(passed)
        var page = StorePage(position: position)
        page.isDamaged = true
        return page
    }

    /// The oldest record from a sequence on, and whether it is older than a time; nil: there is none.
    ///
    /// Where that is damaged, what cannot be read counts as the oldest unless what follows is too old, too.
    func oldest(
        from sequence: Int64,
        of connection: StoredConnectionID,
        since time: WallTime
    ) throws(StorageError) -> (sequence: Int64, isTooOld: Bool)? {
        do throws(StorageError) {
            oldestFrom.begin(connection.number, sequence)
            defer { oldestFrom.end() }
            guard try oldestFrom.next() else { return nil }
            let found = WallTime(millisecondsSince1970: oldestFrom.integer(1))
            return (oldestFrom.integer(0), found < time)
        } catch {
            try pass(error)
        }
        defer { ofAll.end() }
        let limit = Int64.max - sequence
        let passed = try distance(upTo: limit, from: 0) { (distance: Int64) throws(StorageError) in
            ofAll.begin(sequence + distance, .max)
            return try isReadable(ofAll)
        }
        ofAll.begin(sequence + passed, .max)
        guard passed < limit, try ofAll.next() else { return passed == 0 ? nil : (sequence, false) }
        if WallTime(millisecondsSince1970: ofAll.integer(3)) < time { return (ofAll.integer(0), true) }
        return (passed == 0 ? ofAll.integer(0) : sequence, false)
    }

    /// Where a reader stands who has just this record.
    func itself(_ sequence: UInt64, of connection: StoredConnectionID) throws(StorageError) -> StoredStart? {
        let sequence = Int64(clamping: sequence)
        ofAll.begin(sequence, sequence)
        defer { ofAll.end() }
        do throws(StorageError) {
            guard try ofAll.next() else { return nil }
            let record = try record(ofAll)
            guard record.connection == connection else { return nil }
            return StoredStart(sequence: record.sequence, next: record.ordinal + 1)
        } catch {
            try pass(error)
            return nil
        }
    }

    /// Whether the first row can be read, with all that is in it, or there is none.
    private func isReadable(_ rows: Statement) throws(StorageError) -> Bool {
        defer { rows.end() }
        do throws(StorageError) {
            if try rows.next() { _ = try record(rows) }
            return true
        } catch {
            try pass(error)
            return false
        }
    }

    /// The least distance at which reading goes on, which is not tried at `limit` itself.
    ///
    /// It goes in steps of one as far as one damaged page may reach, so that what stands before the next one is not
    /// passed over; then in growing ones, and back by halves.
    private func distance(
        upTo limit: Int64,
        from start: Int64 = 1,
        _ isReadable: (Int64) throws(StorageError) -> Bool
    ) throws(StorageError) -> Int64 {
        if start == 0, try isReadable(0) { return 0 }
        var (bad, good) = (Int64(0), limit)
        var step: Int64 = 1
        while step < limit - bad {
            guard try !isReadable(bad + step) else {
                good = bad + step
                break
            }
            bad += step
            if bad >= StoreReader.mostInPage, step < limit / 4 { step *= 2 }
        }
        while good - bad > 1 {
            let middle = bad + (good - bad) / 2
            if try isReadable(middle) { good = middle } else { bad = middle }
        }
        return good
    }

    /// Records that go into one of SQLite's pages.
    private static let mostInPage = 512
}
