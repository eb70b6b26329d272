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
}
