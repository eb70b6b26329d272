import BridgeCore
import Testing

@testable import Storage

/// Pages in the middle of the file are damaged: what can be read is, and what cannot is told of.
struct DamageTests {
    private static let leaves = [[], [0], [7], [-1], [7, 8, 9], [7, 9], [3, 7, 20, -1], Array(0..<40)]

    /// What a reader gets who reads on until there is nothing more.
    private struct Reading {
        var sequences: [UInt64] = []
        var gaps: [Gap] = []

        /// Nil: it is not known.
        var missed: Int? {
            gaps.reduce(into: Int?(0)) { sum, gap in
                sum = sum.flatMap { sum in gap.missed.map { sum + Int($0) } }
            }
        }
    }

    private func read(
        _ start: (EventLog) -> StartPosition,
        _ store: StoreRig,
        of connections: [String] = ["orders"]
    ) throws -> Reading {
        var log = EventLog(restoring: store.recovery)
        for connection in store.recovery.connections {
            _ = log.register(connection.name, limits: HistoryLimits(), as: connection)
        }
        let filter = StreamFilter(connections: ConnectionSelection(connections.compactMap(log.index)))
        var cursor = log.cursor(at: start(log), of: filter.connections)
        let reader = try store.store.makeReader()
        var reading = Reading()
        // Whoever does not get on would turn for ever.
        for _ in 0..<1000 {
            var entries: [LogEntry] = []
            var allowance = SearchAllowance(bytes: .max)
            if let question = log.question(for: cursor, maxRecords: 50, maxBytes: 64 << 10) {
                entries = log.read(&cursor, try reader.answer(question), by: filter)
            } else if cursor.isSeeking {
                _ = log.goBack(&cursor, by: filter, &allowance)
            } else {
                entries = log.read(&cursor, maxRecords: 50, maxBytes: 64 << 10)
                if entries.isEmpty { return reading }
            }
            for entry in entries {
                switch entry {
                case .record(let record): reading.sequences.append(record.sequence)
                case .gap(let gap): reading.gaps.append(gap)
                }
            }
        }
        Issue.record("a reader never gets to the end")
        return reading
    }

    @Test(arguments: leaves, [0, 0xA5] as [UInt8])
    func `a reader gets all but what is damaged, and a gap counts that`(leaves: [Int], byte: UInt8) throws {
        let damaged = try DamagedStore(leaves: leaves, isMixed: false, with: byte)
        let rig = try StoreRig(damaged.folder)
        let all = try read({ _ in .start }, rig)
        #expect(all.sequences == damaged.sequences.filter { !damaged.hidden.contains($0) })
        #expect(all.missed == damaged.hidden.count)
        // Wherever a reader stands, be it in what is damaged.
        for id in stride(from: 1, to: 400, by: 13) as StrideTo<UInt64> {
            let rest = try read({ .after($0.id(id)) }, rig)
            #expect(rest.sequences == all.sequences.filter { $0 > id })
            #expect(rest.missed == damaged.hidden.filter { $0 > id }.count, "after \(id)")
        }
    }

    @Test(arguments: leaves)
    func `of several connections it may not be known how much`(leaves: [Int]) throws {
        let damaged = try DamagedStore(leaves: leaves, isMixed: true)
        let rig = try StoreRig(damaged.folder)
        let lost = damaged.hidden.filter { $0 % 5 != 0 }
        for id in stride(from: 0, to: 400, by: 13) as StrideTo<UInt64> {
            let mine = try read({ .after($0.id(id)) }, rig)
            #expect(mine.sequences == damaged.mine.filter { $0 > id && !damaged.hidden.contains($0) })
            let due = lost.filter { $0 > id }.count
            #expect(mine.missed == nil || mine.missed == due, "after \(id)")
            #expect(mine.gaps.isEmpty == (due == 0) || mine.missed == nil)
            let both = try read({ .after($0.id(id)) }, rig, of: ["orders", "trades"])
            #expect(both.sequences == damaged.sequences.filter { $0 > id && !damaged.hidden.contains($0) })
            let all = damaged.hidden.filter { $0 > id }.count
            #expect(both.missed == nil || both.missed == all, "after \(id)")
            #expect(!both.gaps.isEmpty || all == 0)
        }
    }

    @Test(arguments: leaves)
    func `the newest are found behind and before what is damaged`(leaves: [Int]) throws {
        let damaged = try DamagedStore(leaves: leaves, isMixed: true)
        let rig = try StoreRig(damaged.folder)
        let kept = damaged.mine.filter { !damaged.hidden.contains($0) }
        for count in [1, 5, 50, 200, 1000] {
            let last = try read({ _ in .last(count) }, rig)
            #expect(last.sequences == kept.suffix(count))
            let first = last.sequences.first ?? 0
            #expect(last.missed == damaged.hidden.filter { $0 > first && $0 % 5 != 0 }.count)
        }
    }

    @Test(arguments: leaves)
    func `a time is found, and what may be so young is told of`(leaves: [Int]) throws {
        let damaged = try DamagedStore(leaves: leaves, isMixed: false)
        let rig = try StoreRig(damaged.folder)
        for start in stride(from: 1, to: 400, by: 13) as StrideTo<UInt64> {
            let since = try read({ _ in .since(time(Int64(start))) }, rig)
            #expect(since.sequences == damaged.mine.filter { $0 >= start && !damaged.hidden.contains($0) })
            let due = damaged.hidden.filter { $0 >= start }.count
            #expect(since.missed.map { $0 >= due } ?? true, "since \(start)")
            #expect(!since.gaps.isEmpty || due == 0)
        }
    }

    @Test(arguments: [[0], [-1], [0, -1]])
    func `where the index alone is damaged nothing is lost`(leaves: [Int]) throws {
        var damaged = try DamagedStore(leaves: [], isMixed: false)
        let rig = try StoreRig(damaged.folder)
        try damaged.damage(leaves, of: "records_of_connection")
        for id in stride(from: 0, to: 400, by: 13) as StrideTo<UInt64> {
            let all = try read({ .after($0.id(id)) }, rig)
            #expect(all.sequences == Array(id + 1...400))
            #expect(all.gaps == [])
        }
        #expect(try read({ _ in .last(7) }, rig).sequences == Array(394...400))
        #expect(try read({ _ in .since(time(300)) }, rig).sequences == Array(300...400))
    }
}
