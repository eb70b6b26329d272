import BridgeCore
import Testing

@testable import Storage

/// Pages of what is stored, read while it is written.
struct ReaderTests {
    private func rig() throws -> StoreRig {
        let rig = try StoreRig()
        rig.note(named(orders), named(trades, "trades"))
        for sequence in 1...20 as ClosedRange<UInt64> {
            let connection = sequence % 4 == 0 ? trades : orders
            _ = try rig.store.offer(
                [.record(record(sequence, of: connection, at: Int64(sequence)))],
                .committed
            )
        }
        try rig.flush()
        return rig
    }

    private func sequences(_ page: StorePage) -> [UInt64] {
        page.entries.map { entry in
            switch entry {
            case .record(let record): record.sequence
            case .gap(let gap): gap.sequences.upperBound
            }
        }
    }

    @Test(arguments: [[1], [2], [1, 2], [2, 1]], [1, 3, 100])
    func `pages follow one another without a loss or a repetition`(ids: [Int64], size: Int) throws {
        let rig = try rig()
        let connections = ids.map(StoredConnectionID.init)
        let reader = try rig.store.makeReader()
        var found: [UInt64] = []
        var position: UInt64 = 0
        while position < 20 {
            let request = StorePageRequest(
                after: position,
                through: 20,
                of: connections,
                maxRecords: size,
                maxBytes: .max
            )
            let page = try reader.page(request)
            #expect(page.position > position)
            #expect(page.entries.count <= size)
            found += sequences(page)
            position = page.position
        }
        let all = try rig.records(of: orders, trades).filter { connections.contains($0.connection) }
        #expect(found == all.map(\.sequence))
    }

    @Test func `a page is bounded in bytes, but for a record that is larger than all of it`() throws {
        let rig = try rig()
        let reader = try rig.store.makeReader()
        func page(_ bytes: Int) throws -> [UInt64] {
            let request = StorePageRequest(
                after: 0,
                through: 20,
                of: [orders],
                maxRecords: 100,
                maxBytes: bytes
            )
            return sequences(try reader.page(request))
        }
        #expect(try page(14) == [1, 2])
        #expect(try page(15) == [1, 2, 3])
        #expect(try page(1) == [1])
    }

    @Test func `a page ends where it was asked to, and leaves out what is too old`() throws {
        let rig = try rig()
        let request = StorePageRequest(
            after: 2,
            through: 9,
            of: [orders],
            earliest: time(6),
            maxRecords: 100,
            maxBytes: .max
        )
        let page = try rig.store.makeReader().page(request)
        #expect(sequences(page) == [6, 7, 9])
        #expect(page.position == 9)
    }

    @Test func `gaps stand where the records stood, for those whom they concern`() throws {
        let rig = try StoreRig()
        rig.note(named(orders), named(trades, "trades"))
        #expect(try rig.put(.record(record(1))))
        let gap = StoredGap(2...4, of: orders, missed: 3)
        rig.note(.gap(gap))
        #expect(try rig.put(.record(record(5, of: trades)), .record(record(6))))
        #expect(try rig.entries(of: [orders]) == [.record(record(1)), .gap(gap), .record(record(6))])
        #expect(try rig.entries(of: [trades]) == [.record(record(5, of: trades))])
        #expect(try rig.entries(of: [orders], after: 4) == [.record(record(6))])
    }

    @Test func `more gaps than are told apart become one, and none is forgotten`() throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        let count = UInt64(StoreSession.mostGaps + 3)
        rig.store.note((1...count).map { .gap(StoredGap($0 * 2...$0 * 2, of: orders, missed: 1)) })
        rig.store.close()
        let gaps = try StoreRig(rig.folder).recovery.gaps
        #expect(gaps.count == StoreSession.mostGaps)
        #expect(gaps.first == StoredGap(2...8))
        #expect(gaps.last?.sequences == count * 2...count * 2)
    }

    @Test func `a reader that stops in the middle does not keep the log from being brought into the file`()
        throws
    {
        let rig = try StoreRig { $0.checkpointPages = 10 }
        rig.note(named(orders))
        let reader = try rig.store.makeReader()
        let text = String(repeating: "x", count: 4000)
        for sequence in 1...200 as ClosedRange<UInt64> {
            #expect(try rig.put(.record(record(sequence, text)), promise: .committed))
            let request = StorePageRequest(
                after: 0,
                through: 200,
                of: [orders],
                maxRecords: 1,
                maxBytes: .max
            )
            #expect(sequences(try reader.page(request)) == [1])
        }
        let database = try Database(rig.folder.database, .reading)
        #expect(try database.integer("PRAGMA page_count") ?? 0 > 200)
        let log = try FileSize.of(rig.folder.database + "-wal")
        #expect(log < 100 * 4096)
    }
}
