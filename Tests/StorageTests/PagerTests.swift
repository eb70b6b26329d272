import BridgeCore
import FoundationEssentials
import Testing

@testable import Storage

/// Pages that are read on a thread of their own.
struct PagerTests {
    /// The answer to a question, once it is there.
    private func answer(_ question: StoreQuestion, _ pager: StorePager, _ bell: Doorbell) throws
        -> StoreAnswer
    {
        let number = pager.ask(question)
        while true {
            if let found = pager.takeAnswers().first(where: { $0.number == number }) {
                return try found.answer.get()
            }
            bell.wait(for: nil)
        }
    }

    private func found(_ answer: StoreAnswer) throws -> StorePage {
        guard case .page(let page) = answer else { throw StorageError(.failing, path: "") }
        return page
    }

    private func page(after: UInt64) -> StoreQuestion {
        .page(
            StorePageRequest(after: after, through: .max, of: [orders], maxRecords: 100, maxBytes: .max)
        )
    }

    @Test func `questions are answered with what is committed by then`() throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        let bell = Doorbell()
        let pager = try StorePager(rig.store, wake: bell.ring)
        for sequence in 1...5 as ClosedRange<UInt64> {
            #expect(try rig.put(.record(record(sequence)), promise: .committed))
            guard case .page(let page) = try answer(page(after: 1), pager, bell) else {
                Issue.record("another answer than to the question")
                return
            }
            #expect(page.records.map(\.sequence) == Array((2..<max(2, sequence + 1))))
        }
        pager.close()
    }

    @Test func `what cannot be read is said, and read when it can be`() throws {
        let disk = try Disk()
        let rig = try StoreRig { [name = disk.name] in $0.vfs = name }
        rig.note(named(orders))
        #expect(try rig.put(.record(record(1))))
        let bell = Doorbell()
        let pager = try StorePager(rig.store, wake: bell.ring)
        let path = rig.folder.database
        try FileManager.default.moveItem(atPath: path, toPath: path + ".aside")
        #expect(throws: StorageError.self) { try answer(page(after: 0), pager, bell) }
        try FileManager.default.moveItem(atPath: path + ".aside", toPath: path)
        #expect(try answer(page(after: 0), pager, bell) != .since(nil))
        pager.close()
    }

    @Test func `what cannot be read for a moment is no damage`() throws {
        let (bad, store) = (try Disk(), try DamagedStore(leaves: [], isMixed: false))
        let rig = try StoreRig(store.folder) { $0.vfs = bad.name }
        let bell = Doorbell()
        let pager = try StorePager(rig.store, wake: bell.ring)
        bad.spoil(try store.bytes(ofLeaf: 7))
        let before = try found(answer(page(after: 0), pager, bell)).records
        #expect(before.count == before.last.map { Int($0.sequence) } && !before.isEmpty)
        let place = page(after: before.last?.sequence ?? 0)
        for _ in 1...5 { #expect(throws: StorageError.self) { try answer(place, pager, bell) } }
        #expect(pager.damage == nil)
        bad.spoil(nil)
        #expect(try found(answer(place, pager, bell)).records.count == 100)
        #expect(pager.damage == nil)
        pager.close()
    }

    @Test func `what can never be read is passed over in the end, and read when it can be`() throws {
        let (bad, store) = (try Disk(), try DamagedStore(leaves: [], isMixed: false))
        let clock = Guarded(Instant(nanoseconds: 0))
        let rig = try StoreRig(store.folder) { options in
            options.vfs = bad.name
            options.clock.monotonic = { clock.withLock(\.self) }
        }
        let bell = Doorbell()
        let pager = try StorePager(rig.store, wake: bell.ring)
        bad.spoil(try store.bytes(ofLeaf: 7))
        let before = try found(answer(page(after: 0), pager, bell)).records
        let place = page(after: before.last?.sequence ?? 0)
        for _ in 1...3 { #expect(throws: StorageError.self) { try answer(place, pager, bell) } }
        clock.withLock { $0 = $0 + .seconds(10) }
        let passed = try found(answer(place, pager, bell))
        #expect(passed.isDamaged && passed.records.isEmpty)
        #expect(pager.damage?.reason == .failing)
        let behind = try found(answer(page(after: passed.position), pager, bell)).records
        #expect(behind.first?.sequence == passed.position + 1)
        bad.spoil(nil)
        let again = try found(answer(place, pager, bell)).records
        #expect(again.first?.sequence == before.last.map { $0.sequence + 1 })
        pager.close()
    }

    @Test func `a file that cannot be read at all is passed over, and that is said`() throws {
        let rig = try StoreRig { $0.checkpointPages = 1 }
        rig.note(named(orders))
        #expect(try rig.put(.record(record(1))))
        try rig.flush()
        let bell = Doorbell()
        let pager = try StorePager(rig.store, wake: bell.ring)
        try rig.folder.damage(at: 0, with: Array(repeating: 0xA5, count: 4096))
        let passed = try found(answer(page(after: 0), pager, bell))
        #expect(passed.isDamaged && passed.records.isEmpty && passed.position == .max)
        #expect(pager.damage?.reason == .damaged)
        pager.close()
    }
}
