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

    private func sequences(_ page: StorePage) -> [UInt64] { page.records.map(\.sequence) }

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
            #expect(page.records.count <= size)
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

    @Test func `a page ends where it was asked to`() throws {
        let rig = try rig()
        let request = StorePageRequest(after: 2, through: 9, of: [orders], maxRecords: 100, maxBytes: .max)
        let page = try rig.store.makeReader().page(request)
        #expect(sequences(page) == [3, 5, 6, 7, 9])
        #expect(page.position == 9)
    }

    @Test(arguments: [[1], [2], [1, 2]], [1, 3, 100])
    func `descending pages follow one another as well`(ids: [Int64], size: Int) throws {
        let rig = try rig()
        let connections = ids.map(StoredConnectionID.init)
        let reader = try rig.store.makeReader()
        var found: [UInt64] = []
        var position: UInt64 = 18
        while position > 2 {
            var request = StorePageRequest(
                after: 2,
                through: position,
                of: connections,
                maxRecords: size,
                maxBytes: .max
            )
            request.isDescending = true
            let page = try reader.page(request)
            #expect(page.position < position)
            #expect(page.records.count <= size)
            found += sequences(page)
            position = page.position
        }
        let all = try rig.records(of: orders, trades).filter { connections.contains($0.connection) }
        #expect(found == all.map(\.sequence).reversed().filter { 3...18 ~= $0 })
    }

    @Test func `where a cursor stands is known, unless that is trimmed`() throws {
        let rig = try StoreRig()
        rig.note(named(orders, limits: HistoryLimits(maxMessages: 3)), named(trades, "trades"))
        for sequence in [2, 4, 6, 8, 10] as [UInt64] {
            #expect(try rig.put(.record(record(sequence, ordinal: sequence / 2 - 1))))
        }
        let reader = try rig.store.makeReader()
        func start(_ sequence: UInt64, of connection: StoredConnectionID = orders) throws -> StoredStart? {
            var request = StorePageRequest(
                after: sequence,
                through: .max,
                of: [connection],
                maxRecords: 1,
                maxBytes: 1
            )
            request.starts = [connection]
            return try reader.page(request).starts[connection]
        }
        #expect(try start(3) == nil)
        #expect(try start(4) == StoredStart(sequence: 4, next: 2))
        #expect(try start(5) == StoredStart(sequence: 4, next: 2))
        #expect(try start(9) == StoredStart(sequence: 8, next: 4))
        #expect(try start(.max) == StoredStart(sequence: 10, next: 5))
        #expect(try start(7, of: trades) == StoredStart(sequence: 0, next: 0))
    }

    @Test func `where records of some time begin is found`() throws {
        let rig = try rig()
        let reader = try rig.store.makeReader()
        func since(_ milliseconds: Int64, _ connections: StoredConnectionID...) throws -> UInt64? {
            let answer = try reader.answer(.since(time(milliseconds), of: connections))
            return if case .since(let position) = answer { position } else { nil }
        }
        // Those of trades are 4, 8, 12, 16, 20; the time of each is its sequence.
        #expect(try since(0, orders, trades) == 0)
        #expect(try since(7, orders, trades) == 6)
        #expect(try since(9, trades) == 11)
        #expect(try since(12, trades) == 11)
        #expect(try since(12, orders) == 12)
        #expect(try since(12, orders, trades) == 11)
        #expect(try since(20, orders, trades) == 19)
        #expect(try since(21, orders, trades) == nil)
        #expect(try since(5, StoredConnectionID(number: 9)) == nil)
    }

    @Test func `what could not be stored counts among the records, and its ids do not come again`() throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        #expect(try rig.put(.record(record(1))))
        rig.note(.unstored(orders, through: 7, recorded: 5))
        // An id that was shown is no new one.
        #expect(try rig.put(.record(record(6, ordinal: 5)), .record(record(9, ordinal: 5))))
        rig.wait { !$0.histories.isEmpty || rig.histories[orders]?.recorded == 6 }
        #expect(rig.histories[orders]?.newest == 9)
        rig.note(.unstored(orders, through: 12, recorded: 8))
        rig.store.close()
        let again = try StoreRig(rig.folder)
        #expect(try again.records(of: orders).map(\.ordinal) == [0, 5])
        #expect(again.recovery.headSequence == 12)
        let history = try #require(again.recovery.connections.first).history
        #expect((history.records, history.oldest, history.recorded, history.newest) == (2, 1, 8, 12))
    }

    @Test func `more gaps than are told apart become one, and none is forgotten`() throws {
        let folder = try StoreFolder()
        let count = StoreSession.mostGaps + 3
        var last: UInt64 = 0
        for number in 0..<count {
            // Closed, but not as far as the file tells; its log stays, as one who only reads is the last to leave.
            try StoreRig(folder).store.close()
            let reader = try Database(folder.database, .reading)
            _ = try reader.integer("SELECT count(*) FROM store")
            last += 10
            do {
                let database = try Database(folder.database, .writing)
                try database.execute("UPDATE store SET clean = 0, reserved = \(last), head = \(last - 5)")
                if number == 1 { try database.execute("UPDATE store SET boot = 'another'") }
            }
            #expect(reader.path == folder.database)
        }
        let gaps = try StoreRig(folder).recovery.gaps
        #expect(gaps.count == StoreSession.mostGaps)
        #expect(gaps.first == StoredGap(6...40, .powerCut))
        #expect(gaps.last == StoredGap(last - 4...last, .end))
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
