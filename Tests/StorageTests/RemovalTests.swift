import BridgeCore
import Testing

@testable import Storage

/// What stays of a connection that was removed: how much its readers have lost.
struct RemovalTests {
    private let third = StoredConnectionID(number: 3)

    /// So many records, the last with this sequence and time, and none of them kept.
    private func past(_ count: UInt64, through sequence: UInt64, at milliseconds: Int64 = 0) -> StoredHistory
    {
        var past = StoredHistory()
        (past.recorded, past.newest) = (count, sequence)
        (past.trimmed, past.trimmedThrough) = (count, sequence)
        past.trimmedAt = time(milliseconds)
        return past
    }

    private func rows(_ folder: StoreFolder) throws -> Int64? {
        try Database(folder.database, .reading).integer("SELECT count(*) FROM connections")
    }

    @Test func `it is known after a restart, with what was shown at the end`() throws {
        let rig = try StoreRig()
        rig.note(named(orders), named(trades, "trades"))
        #expect(
            try rig.put(.record(record(1)), .record(record(2)), .record(record(3, of: trades, ordinal: 0)))
        )
        rig.note(.removed(orders))
        #expect(try rig.put(.record(record(4, ordinal: 2, at: 7))))
        // In the middle of it, and after it.
        for folder in [try rig.folder.copy(), rig.folder] {
            if folder === rig.folder { rig.store.close() }
            let again = try StoreRig(folder)
            #expect(again.recovery.connections.map(\.name) == ["trades"])
            #expect(again.recovery.removed.map(\.name) == ["orders"])
            #expect(again.recovery.removed.map(\.history) == [past(3, through: 4, at: 7)])
            #expect(again.recovery.forgottenThrough == 0)
            again.store.close()
        }
    }

    @Test func `what was shown and not stored counts`() throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        #expect(try rig.put(.record(record(1, at: 5))))
        rig.note(.removed(orders), .unstored(orders, through: 9, recorded: 4))
        rig.store.close()
        #expect(try StoreRig(rig.folder).recovery.removed.map(\.history) == [past(4, through: 9, at: 5)])
    }

    @Test func `the next one of the name has it as its past, and it alone`() throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        #expect(try rig.put(.record(record(1, at: 5))))
        var known = past(1, through: 1, at: 5)
        known.unknownThrough = 17
        rig.note(.removed(orders), .connection(third, name: "orders", limits: HistoryLimits(), past: known))
        try rig.flush()
        let empty = try StoreRig(try rig.folder.copy())
        #expect(empty.recovery.connections.map(\.history) == [known])
        #expect(try rig.put(.record(record(20, of: third, ordinal: 1))))
        rig.store.close()
        let again = try StoreRig(rig.folder)
        #expect(again.recovery.removed == [])
        let history = try #require(again.recovery.connections.first?.history)
        #expect(history.trimmed == 1 && history.trimmedThrough == 1 && history.unknownThrough == 17)
        #expect(history.recorded == 2 && history.records == 1 && history.skipped == 0)
        again.store.close()
        #expect(try rows(rig.folder) == 1)
    }

    @Test func `of too many it is known that there were some`() throws {
        let rig = try StoreRig()
        let count: Int64 = 1100
        for number in 1...count {
            let id = StoredConnectionID(number: number)
            rig.note(named(id, "c\(number)"))
            _ = try rig.store.offer([.record(record(UInt64(number), of: id, ordinal: 0))], .committed)
            rig.note(.removed(id))
        }
        // Each time that it has nothing else to do a part of the rows goes.
        rig.note(named(StoredConnectionID(number: count + 1), "stays"))
        while try rows(rig.folder) != 1025 { try rig.flush() }
        rig.store.close()
        let again = try StoreRig(rig.folder)
        #expect(again.recovery.removed.count == 1024)
        #expect(again.recovery.forgottenThrough == 76)
        var connections = StoredConnections(again.recovery)
        #expect(connections.claim("c1").history.unknownThrough == 76)
        #expect(connections.claim("c77").history == past(1, through: 77))
    }
}
