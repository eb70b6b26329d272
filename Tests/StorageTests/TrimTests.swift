import BridgeCore
import Synchronization
import Testing
import WebSocketTestSupport

@testable import Storage

/// The bounds of what is kept of a connection's past.
struct TrimTests {
    private func sequences(_ rig: StoreRig) throws -> [UInt64] {
        try rig.records(of: orders).map(\.sequence)
    }

    @Test func `the oldest records go when there are too many`() throws {
        let rig = try StoreRig()
        rig.note(named(orders, limits: HistoryLimits(maxMessages: 3)), named(trades, "trades"))
        #expect(try rig.put(.record(record(1, of: trades))))
        for sequence in 2...8 as ClosedRange<UInt64> {
            #expect(try rig.put(.record(record(sequence, ordinal: sequence - 2, at: Int64(sequence)))))
        }
        #expect(try sequences(rig) == [6, 7, 8])
        rig.wait { _ in rig.histories[orders]?.oldest == 6 }
        #expect(rig.trims.map(\.sequences.lowerBound) == [2, 3, 4, 5])
        #expect(rig.trims.map(\.ordinals.lowerBound) == [0, 1, 2, 3])
        #expect(try rig.records(of: trades).count == 1)
        rig.store.close()
        let history = try #require(try StoreRig(rig.folder).recovery.connections.first).history
        #expect((history.records, history.bytes, history.oldest) == (3, 15, 6))
        #expect((history.recorded, history.newest) == (7, 8))
        #expect((history.trimmed, history.trimmedThrough, history.trimmedAt) == (4, 5, time(5)))
    }

    @Test func `the oldest records go when they are too large`() throws {
        let rig = try StoreRig()
        rig.note(named(orders, limits: HistoryLimits(maxBytes: 10)))
        #expect(
            try rig.put(.record(record(1, "1234567")), .record(record(2, "123")), .record(record(3, "1")))
        )
        #expect(try sequences(rig) == [2, 3])
        #expect(try rig.put(.record(record(4, "12345678901"))))
        #expect(try sequences(rig) == [])
    }

    @Test func `records go when they are too old, and a clock that went back keeps them`() throws {
        let now = Mutex<Int64>(10_000)
        let rig = try StoreRig { options in
            options.clock.wall = { time(now.withLock(\.self)) }
        }
        rig.note(named(orders, limits: HistoryLimits(maxAge: .seconds(5))))
        #expect(try rig.put(.record(record(1, at: 4000)), .record(record(2, at: 6000))))
        #expect(try sequences(rig) == [2])
        now.withLock { $0 = 1000 }
        #expect(try rig.put(.record(record(3, at: 1000))))
        #expect(try sequences(rig) == [2, 3])
        now.withLock { $0 = 11_001 }
        #expect(try rig.put(.record(record(4, at: 11_001))))
        #expect(try sequences(rig) == [4])
    }

    @Test func `bounds that become narrower hold in the end, though no commit does it all`() throws {
        let folder = try StoreFolder()
        var random = SeededGenerator(seed: 1)
        let file = StoreFile(directory: try StoreDirectory(folder.path), options: StoreOptions(boot: nil))
        let session = try file.open(random: &random).session
        try session.transact(at: time(0)) { session throws(StorageError) in
            try session.apply(named(orders))
            for sequence in 1...5000 as ClosedRange<UInt64> { try session.apply(.record(record(sequence))) }
        }
        #expect(!session.hasRefuse)
        try session.transact(at: time(0)) { session throws(StorageError) in
            try session.apply(named(orders, limits: HistoryLimits(maxMessages: 10)))
        }
        #expect(session.tallies[orders]?.history.records == 5000 - 512)
        var rounds = 0
        while session.hasRefuse {
            try session.keepHouse(at: time(0))
            rounds += 1
        }
        #expect(session.tallies[orders]?.history.records == 10)
        #expect(rounds == 9)
        #expect(try session.database.integer("SELECT min(sequence) FROM records") == 4991)
    }
}
