import BridgeCore
import Foundation
import Testing

@testable import Storage

/// What somebody else may do to the files of a store while it is in use.
struct FileWatchTests {
    enum Deed: CaseIterable {
        case delete, move, replace, replaceByOlder

        func happen(to name: String, in folder: StoreFolder) throws {
            let path = folder.path + "/" + name
            switch self {
            case .delete: try FileManager.default.removeItem(atPath: path)
            case .move: try FileManager.default.moveItem(atPath: path, toPath: path + ".aside")
            case .replace:
                try FileManager.default.removeItem(atPath: path)
                try Data(repeating: 7, count: 100_000).write(to: URL(filePath: path))
            case .replaceByOlder:
                let old = try Data(contentsOf: URL(filePath: path))
                try FileManager.default.removeItem(atPath: path)
                try old.write(to: URL(filePath: path))
            }
        }
    }

    /// Looks after the files with each message, or only while there is none.
    private func rig(_ folder: StoreFolder? = nil, isIdle: Bool = false) throws -> StoreRig {
        try StoreRig(folder) { $0.watchInterval = isIdle ? .milliseconds(1) : .seconds(3600) }
    }

    private func waiting(_ folder: StoreFolder) throws -> [UInt64]? {
        try StoreRig(folder).recovery.connections.first?.messages.map(\.number)
    }

    // MARK: The log

    @Test(arguments: Deed.allCases)
    func `a log that goes away takes nothing with it`(deed: Deed) throws {
        let rig = try rig()
        rig.note(named(orders))
        #expect(try rig.put(messages(1...1), .record(record(1))))
        try deed.happen(to: "wsbridge.db-wal", in: rig.folder)
        #expect(try rig.put(messages(2...2), .record(record(2))))
        #expect(rig.mended == [.log])
        #expect(try waiting(try rig.folder.copy()) == [1, 2])
        #expect(try rig.put(messages(3...3), .record(record(3))))
        #expect(rig.mended == [.log])
        #expect(try rig.records(of: orders) == [record(1), record(2), record(3)])
        rig.store.close()
        let database = try Database(rig.folder.database, .reading)
        #expect(try database.text("PRAGMA integrity_check") == "ok")
        #expect(try waiting(rig.folder) == [1, 2, 3])
    }

    @Test(arguments: Deed.allCases)
    func `that is found out though nothing is written`(deed: Deed) throws {
        let rig = try rig(isIdle: true)
        rig.note(named(orders))
        #expect(try rig.put(messages(1...1)))
        try deed.happen(to: "wsbridge.db-wal", in: rig.folder)
        rig.wait { _ in rig.mended == [.log] }
        #expect(try waiting(try rig.folder.copy()) == [1])
    }

    @Test func `a reader goes on with the new log`() throws {
        let rig = try rig()
        let answered = Doorbell()
        let pager = try StorePager(rig.store) { answered.ring() }
        func read() throws -> [StoredRecord]? {
            let request = StorePageRequest(
                after: 0,
                through: .max,
                of: [orders],
                maxRecords: 9,
                maxBytes: .max
            )
            _ = pager.ask(.page(request))
            answered.wait(for: nil)
            guard case .page(let page)? = try pager.takeAnswers().first?.answer.get() else { return nil }
            return page.records
        }
        rig.note(named(orders))
        #expect(try rig.put(.record(record(1))))
        #expect(try read() == [record(1)])
        try Deed.delete.happen(to: "wsbridge.db-wal", in: rig.folder)
        #expect(try rig.put(.record(record(2))))
        #expect(try read() == [record(1), record(2)])
    }

    @Test(arguments: [0, 40, 20_000])
    func `after a log was cut nothing is stored until the next start`(size: Int) throws {
        // Of one that has nothing but its log, nothing would be left, which a start refuses.
        let before = try rig()
        before.note(named(orders))
        #expect(try before.put(messages(1...1)))
        before.store.close()
        let rig = try self.rig(before.folder)
        for number in 2...20 as ClosedRange<UInt64> { #expect(try rig.put(messages(number...number))) }
        try rig.folder.truncate("wsbridge.db-wal", to: size)
        #expect(try !rig.put(messages(21...21)))
        #expect(rig.news.failure?.reason == .cut)
        rig.store.close()
        let again = try StoreRig(rig.folder)
        let left = again.recovery.connections.first?.messages.map(\.number) ?? []
        #expect(left == Array((1...20).prefix(left.count)))
        again.store.close()
        let database = try Database(rig.folder.database, .reading)
        #expect(try database.text("PRAGMA integrity_check") == "ok")
    }

    @Test func `a log that the shell has emptied is not cut`() throws {
        let rig = try rig()
        rig.note(named(orders))
        #expect(try rig.put(messages(1...1)))
        let shell = try Database(rig.folder.database, .writing)
        // It has the log once it has read.
        #expect(try shell.integer("SELECT count(*) FROM outbox") == 1)
        #expect(try shell.checkpoint(truncating: true) == 0)
        #expect(try FileSize.of(rig.folder.database + "-wal") == 0)
        #expect(try rig.put(messages(2...2)))
        #expect(rig.mended == [])
        #expect(try waiting(try rig.folder.copy()) == [1, 2])
    }

    @Test func `the memory that connections share may go away`() throws {
        let rig = try rig()
        rig.note(named(orders))
        #expect(try rig.put(messages(1...1), .record(record(1))))
        try Deed.delete.happen(to: "wsbridge.db-shm", in: rig.folder)
        #expect(try rig.put(messages(2...2), .record(record(2))))
        #expect(try rig.records(of: orders) == [record(1), record(2)])
        #expect(try waiting(try rig.folder.copy()) == [1, 2])
    }

    // MARK: The lock

    @Test(arguments: Deed.allCases, [true, false])
    func `a lock that goes away is made again`(deed: Deed, isIdle: Bool) throws {
        let rig = try rig(isIdle: isIdle)
        rig.note(named(orders))
        #expect(try rig.put(messages(1...1)))
        try deed.happen(to: "wsbridge.lock", in: rig.folder)
        if !isIdle { #expect(try rig.put(messages(2...2))) }
        rig.wait { _ in rig.mended == [.lock] }
        let error = #expect(throws: StorageError.self) { try StoreRig(rig.folder) }
        #expect(error?.reason == .inUse(process: getpid()))
        let copy = try StoreRig(try rig.folder.copy())
        #expect(copy.recovery.epoch == rig.recovery.epoch)
        #expect(copy.recovery.connections.first?.messages.count == (isIdle ? 1 : 2))
    }

    @Test func `a lock that was emptied is written again`() throws {
        let rig = try rig(isIdle: true)
        rig.note(named(orders))
        try rig.folder.truncate("wsbridge.lock", to: 0)
        rig.wait { _ in rig.mended == [.lock] }
        #expect(try StoreRig(try rig.folder.copy()).recovery.epoch == rig.recovery.epoch)
    }

    @Test func `who finds that another one has the lock writes nothing any more`() throws {
        let first = try rig()
        first.note(named(orders))
        #expect(try first.put(messages(1...1)))
        try Deed.delete.happen(to: "wsbridge.lock", in: first.folder)
        let second = try rig(first.folder)
        #expect(try !first.put(messages(2...2)))
        #expect(first.news.failure?.reason == .inUse(process: getpid()))
        #expect(try second.put(messages(3...3)))
        second.store.close()
        // It may not go on either when that one is gone, for it does not know what was written.
        first.wait { $0.failure?.reason == .moved }
        first.store.close()
        #expect(try waiting(first.folder) == [1, 3])
    }
}
