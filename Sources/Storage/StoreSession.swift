internal import BridgeCore

/// The store's database while it is written: changes become rows, and what is too much goes.
///
/// For one thread at a time. After an error the transaction is rolled back and the session is as it was before it;
/// whether it can go on is for the caller to try.
final class StoreSession {
    let database: Database
    let statements: StoreStatements
    private let log: LogWatch
    /// What the current transaction changes stands here already; `before` knows how it was.
    var tallies: [StoredConnectionID: StoreTally]
    var head: UInt64
    /// No greater sequence may be shown before a greater reservation was synced.
    var reserved: UInt64
    /// The reservation that a power cut cannot take.
    private var syncedReservation: UInt64
    var gaps: [(id: Int64, gap: StoredGap)]
    /// Connections whose rows are being deleted.
    var purges: [StoredConnectionID]
    private var before = Before()
    /// The connection that the current transaction has touched last.
    private var touched: StoredConnectionID?
    /// What has become of histories since `takeHistories`.
    private var changed: Set<StoredConnectionID> = []
    private var trims: [StoredTrim] = []
    private var newTrims: [StoredTrim] = []
    /// Connections of which more is kept than may be.
    private var overfull: Set<StoredConnectionID> = []

    private struct Before {
        var tallies: [StoredConnectionID: StoreTally?] = [:]
        var head: UInt64 = 0
        var reserved: UInt64 = 0
        var gaps: [(id: Int64, gap: StoredGap)]?
        var purges: [StoredConnectionID]?
    }

    /// So many sequences are reserved at a time: more than are used between two syncs, and than can be shown in days in
    /// which nothing can be stored; and nothing against 2^63.
    static let reservation: UInt64 = 1 << 36
    /// Gaps that are told apart; the oldest ones become one.
    static let mostGaps = 256

    /// Takes over a database that is open and of the right version, and where it goes on.
    ///
    /// After one that failed it goes on with the same bounds, and relies on nothing that may not have been synced.
    init(
        _ database: consuming Database,
        head: UInt64,
        reserved: UInt64,
        replacing old: StoreSession? = nil
    ) throws(StorageError) {
        statements = try StoreStatements(database)
        self.head = head
        self.reserved = reserved
        syncedReservation = old == nil ? reserved : 0
        tallies = try StoreSession.tallies(database)
        for (id, tally) in old?.tallies ?? [:] { tallies[id]?.limits = tally.limits }
        gaps = try StoreSession.gaps(database)
        purges = try StoreSession.purges(database)
        log = LogWatch(database)
        self.database = database
    }

    /// There is something to delete that no transaction came to yet.
    var hasRefuse: Bool { !purges.isEmpty || !overfull.isEmpty }

    /// Something that is kept may become too old.
    var isAgeing: Bool { tallies.values.contains { $0.limits.maxAge != nil && $0.history.records > 0 } }

    /// What somebody else has made of the log.
    var logFinding: LogWatch.Finding { log.look(at: database) }

    /// What has been shown must be synced first, for its sequences were not reserved.
    var needsSync: Bool { head > syncedReservation }

    /// Makes all that was committed safe from a power cut.
    func sync() throws(StorageError) {
        try database.sync()
        syncedReservation = reserved
    }

    /// Does all of it, or throws and does nothing.
    func transact(at now: WallTime, _ change: (StoreSession) throws(StorageError) -> Void)
        throws(StorageError)
    {
        before = Before(head: head, reserved: reserved)
        touched = nil
        newTrims = []
        do throws(StorageError) {
            try statements.begin.run()
            try change(self)
            try trim(at: now)
            try writeTallies()
            try statements.commit.run()
        } catch {
            rollBack()
            throw error
        }
        changed.formUnion(before.tallies.keys)
        trims += newTrims
    }

    /// The histories that committed transactions have changed since the last call, and what they have trimmed.
    func takeHistories() -> (histories: [StoredConnectionID: StoredHistory], trims: [StoredTrim]) {
        defer { (changed, trims) = ([], []) }
        let histories = changed.compactMap { id in tallies[id].map { (id, $0.history) } }
        return (Dictionary(uniqueKeysWithValues: histories), trims)
    }

    /// Deletes some of what is too much; call it again while `hasRefuse`.
    func keepHouse(at now: WallTime) throws(StorageError) {
        try transact(at: now) { session throws(StorageError) in
            for (id, tally) in session.tallies where tally.limits.maxAge != nil { session.touch(id) }
            for id in session.overfull { session.touch(id) }
        }
    }

    /// A connection is about to be changed by the transaction.
    func touch(_ id: StoredConnectionID) {
        // Mostly it is one connection that is changed again and again.
        guard id != touched else { return }
        touched = id
        if before.tallies[id] == nil { before.tallies[id] = .some(tallies[id]) }
    }

    func willChangeGaps() {
        if before.gaps == nil { before.gaps = gaps }
    }

    func willChangePurges() {
        if before.purges == nil { before.purges = purges }
    }

    /// Writes something that is so already, to find out whether that can be done.
    func probe() throws(StorageError) {
        try statements.setHead.run(Int64(clamping: head), Int64(clamping: reserved))
    }

    private func rollBack() {
        if database.isInTransaction { try? statements.rollback.run() }
        for (id, tally) in before.tallies { tallies[id] = tally }
        head = before.head
        reserved = before.reserved
        gaps = before.gaps ?? gaps
        purges = before.purges ?? purges
    }

    private func writeTallies() throws(StorageError) {
        for (id, old) in before.tallies {
            guard let tally = tallies[id], tally != old else { continue }
            try write(tally, of: id)
        }
        if head > reserved - min(reserved, StoreSession.reservation / 2) {
            reserved = head + StoreSession.reservation
        }
        guard head != before.head || reserved != before.reserved else { return }
        try statements.setHead.run(Int64(clamping: head), Int64(clamping: reserved))
    }

    func write(_ tally: StoreTally, of id: StoredConnectionID) throws(StorageError) {
        let history = tally.history
        try statements.setConnection.run(
            Int64(history.records),
            Int64(history.bytes),
            Int64(clamping: history.recorded),
            Int64(clamping: history.newest),
            Int64(clamping: history.skipped),
            Int64(clamping: history.skippedThrough),
            Int64(clamping: history.trimmed),
            Int64(clamping: history.trimmedThrough),
            history.trimmedAt.millisecondsSince1970,
            Int64(clamping: history.unknownThrough),
            Int64(clamping: tally.lastMessage),
            id.number
        )
    }

    // MARK: What is too much

    /// Records that one transaction deletes of a connection at most, beside as many as it adds.
    private static let trimAtOnce = 512

    private func trim(at now: WallTime) throws(StorageError) {
        try purge()
        for (id, old) in before.tallies {
            overfull.remove(id)
            try trimOutcomes(of: id)
            guard let tally = tallies[id] else { continue }
            let added = max(0, tally.history.records - (old?.history.records ?? 0))
            try trim(id, atMost: added + StoreSession.trimAtOnce, at: now)
        }
    }

    private func trim(_ id: StoredConnectionID, atMost limit: Int, at now: WallTime) throws(StorageError) {
        guard var tally = tallies[id], tally.isOverfull || tally.limits.maxAge != nil else { return }
        let earliest = tally.limits.maxAge.map { now - $0 }
        var left = limit
        statements.oldestRecords.begin(id.number, Int64(limit))
        while left > 0, try statements.oldestRecords.next() {
            let time = WallTime(millisecondsSince1970: statements.oldestRecords.integer(1))
            guard tally.isOverfull || earliest.map({ time < $0 }) == true else { break }
            let sequence = UInt64(clamping: statements.oldestRecords.integer(0))
            let ordinal = UInt64(clamping: statements.oldestRecords.integer(3))
            noteTrim(sequence, of: id, ordinal: ordinal)
            tally.history.trimmedThrough = sequence
            tally.history.trimmedAt = time
            tally.history.trimmed = ordinal + 1
            tally.history.records -= 1
            tally.history.bytes -= Int(statements.oldestRecords.integer(2))
            left -= 1
        }
        statements.oldestRecords.end()
        if left == 0 { overfull.insert(id) }
        guard left < limit else { return }
        try statements.trimRecords.run(id.number, Int64(clamping: tally.history.trimmedThrough))
        statements.oldestRecords.begin(id.number, 1)
        tally.history.oldest =
            try statements.oldestRecords.next() ? UInt64(clamping: statements.oldestRecords.integer(0)) : 0
        statements.oldestRecords.end()
        tallies[id] = tally
    }

    private func noteTrim(_ sequence: UInt64, of id: StoredConnectionID, ordinal: UInt64) {
        let last = newTrims.count - 1
        if last >= 0, newTrims[last].extend(sequence, of: id, ordinal: ordinal) { return }
        newTrims.append(StoredTrim(sequence, of: id, ordinal: ordinal))
    }
}
