import BridgeCore
import FoundationEssentials
import Testing

@testable import Storage

/// What happens while the disk cannot be written, and afterwards.
struct FaultTests {
    let disk: Disk

    init() throws {
        disk = try Disk()
    }

    private func rig(_ folder: StoreFolder? = nil, boot: String = "boot") throws -> StoreRig {
        try StoreRig(folder, boot: boot) { [name = disk.name] in $0.vfs = name }
    }

    @Test func `a full disk refuses offers and loses no fact, and all is well when there is room`() throws {
        let rig = try rig()
        rig.note(named(orders))
        #expect(try rig.put(messages(1...2)))
        disk.leave(room: 0)
        #expect(try !rig.put(messages(3...3)))
        rig.note(.ended(1..<2, of: orders, as: .expired))
        rig.wait { $0.failure != nil }
        #expect(rig.news.failure?.reason == .full)
        disk.leave(room: nil)
        rig.wait { $0.failure == nil }
        #expect(try rig.put(messages(4...4)))
        rig.store.close()
        let connection = try #require(try StoreRig(rig.folder).recovery.connections.first)
        #expect(connection.messages.map(\.number) == [2, 4])
        #expect(connection.outcomes.map(\.number) == [1])
    }

    @Test func `facts that come with an offer are kept though that is refused`() throws {
        let rig = try rig()
        rig.note(named(orders))
        #expect(try rig.put(messages(1...3)))
        disk.leave(room: 0)
        // Refused by the disk.
        let ticket = try rig.store.offer(
            [messages(4...4)],
            .synced,
            behind: [.ended(1..<2, of: orders, as: .expired)]
        )
        #expect(!rig.isKept(ticket))
        // Not even taken.
        #expect(throws: StoreRefusal.self) {
            try rig.store.offer([messages(5...5)], .synced, behind: [.ended(2..<3, of: orders, as: .dropped)])
        }
        disk.leave(room: nil)
        rig.wait { $0.failure == nil }
        rig.store.close()
        let connection = try #require(try StoreRig(rig.folder).recovery.connections.first)
        #expect(connection.messages.map(\.number) == [3])
        #expect(connection.outcomes.map(\.number) == [1, 2])
    }

    @Test func `a kill while nothing can be stored leaves a gap behind what is stored`() throws {
        let rig = try rig()
        rig.note(named(orders))
        #expect(try rig.put(.record(record(1))))
        func gap() throws -> StoredGap? {
            try StoreRig(try rig.folder.copy()).recovery.gaps.last
        }
        #expect(try gap()?.cause == .end)
        disk.leave(room: 0)
        #expect(try !rig.put(.record(record(2))))
        let found = try #require(try gap())
        #expect(found.cause == .unstored)
        #expect(found.sequences.lowerBound == 2)
        // Also the next time.
        let copy = try rig.folder.copy()
        try StoreRig(copy).store.close()
        #expect(try StoreRig(copy).recovery.gaps.map(\.cause) == [.unstored])
        disk.leave(room: nil)
        var isToBeTold = false
        rig.wait { news in
            isToBeTold = isToBeTold || news.isToBeTold
            return news.failure == nil
        }
        #expect(isToBeTold)
        // Not before it is known what is missing.
        #expect(try gap()?.cause == .unstored)
        rig.note(.unstored(orders, through: 2, recorded: 2))
        rig.store.tellAll()
        try rig.flush()
        #expect(try gap()?.cause == .end)
        rig.store.close()
        #expect(try StoreRig(rig.folder).recovery.gaps == [])
    }

    @Test func `while it cannot be written, offers are refused at once`() throws {
        let rig = try rig()
        rig.note(named(orders))
        disk.leave(room: 0)
        let ticket = try rig.store.offer([messages(1...1)], .synced)
        rig.wait { $0.failure?.reason == .full }
        #expect(throws: StoreRefusal.self) { try rig.store.offer([messages(2...2)], .synced) }
        #expect(!rig.isKept(ticket))
        rig.store.close()
    }

    @Test func `what could not be synced is not there later, and what was committed is`() throws {
        let rig = try rig()
        rig.note(named(orders))
        #expect(try rig.put(messages(1...1)))
        disk.failSyncs(true)
        let shown = try rig.store.offer([.record(record(1))], .committed)
        let refused = try rig.store.offer([messages(2...3, key: "k")], .synced)
        #expect(!rig.isKept(refused))
        #expect(rig.isKept(shown, .committed))
        #expect(rig.news.failure?.reason == .failing)
        disk.failSyncs(false)
        rig.wait { $0.failure == nil }
        #expect(try rig.put(messages(4...4, key: "k")))
        rig.store.close()
        let again = try StoreRig(rig.folder)
        #expect(again.recovery.connections.first?.messages.map(\.number) == [1, 4])
        #expect(again.recovery.connections.first?.keys.map(\.firstMessage) == [4])
        #expect(try again.records(of: orders) == [record(1)])
    }

    @Test func `a file system that is really full recovers when it has room again`() throws {
        let small = try SmallDisk(bytes: 1 << 20)
        // What is small may still find room, and then it is not full any more.
        let rig = try StoreRig(small.folder) { $0.retryInterval = .seconds(1) }
        rig.note(named(orders))
        let text = String(repeating: "x", count: 20_000)
        var kept: [UInt64] = []
        for number in 1...200 as ClosedRange<UInt64> {
            guard
                let ticket = try? rig.store.offer(
                    [.messages([message(number, text)], of: orders, key: nil)],
                    .synced
                ),
                rig.isKept(ticket)
            else { break }
            kept.append(number)
        }
        #expect(5..<100 ~= kept.count)
        #expect(rig.news.failure?.reason == .full)
        rig.note(.ended(1..<2, of: orders, as: .expired))
        try small.resize(bytes: 16 << 20)
        rig.wait { $0.failure == nil }
        #expect(try rig.put(messages(1000...1000)))
        rig.store.close()
        let again = try StoreRig(small.folder)
        #expect(again.recovery.connections.first?.messages.map(\.number) == kept.dropFirst() + [1000])
        again.store.close()
    }

    @Test func `a file that was deleted is not written to any more, and one put back is`() throws {
        let rig = try rig()
        rig.note(named(orders))
        #expect(try rig.put(messages(1...1)))
        let aside = rig.folder.database + ".aside"
        try FileManager.default.moveItem(atPath: rig.folder.database, toPath: aside)
        #expect(try !rig.put(messages(2...2)))
        try FileManager.default.moveItem(atPath: aside, toPath: rig.folder.database)
        rig.wait { $0.failure == nil }
        #expect(try rig.put(messages(3...3)))
        rig.store.close()
        #expect(try StoreRig(rig.folder).recovery.connections.first?.messages.map(\.number) == [1, 3])
    }

    @Test func `a clock that was set back changes neither order nor what is kept`() throws {
        let rig = try rig()
        rig.note(named(orders, limits: HistoryLimits(maxAge: .seconds(1))))
        // The records say when they came; the store's own clock is the real one, which is far ahead of them all.
        let times = [9_000_000_000_000, 8_000_000_000_000, 9_500_000_000_000] as [Int64]
        for (sequence, milliseconds) in zip(1... as PartialRangeFrom<UInt64>, times) {
            #expect(try rig.put(.record(record(sequence, at: milliseconds))))
        }
        #expect(try rig.records(of: orders).map(\.sequence) == [1, 2, 3])
        rig.store.close()
        #expect(try StoreRig(rig.folder).recovery.headSequence == 3)
    }
}
