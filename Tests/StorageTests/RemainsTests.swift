import BridgeCore
import Foundation
import Testing

@testable import Storage

/// Less is there than was left: a start and a check say so, and nothing begins anew in silence.
struct RemainsTests {
    /// What is there when a process is killed that has only just begun: all is in the log.
    private func young() throws -> StoreFolder {
        let rig = try StoreRig()
        rig.note(named(orders))
        #expect(try rig.put(messages(1...3)))
        let folder = try rig.folder.copy()
        #expect(try FileSize.of(folder.database) <= 4096)
        rig.store.close()
        return folder
    }

    /// The same of one that had brought its log into the file.
    private func grown() throws -> StoreFolder {
        let rig = try StoreRig { $0.checkpointPages = 1 }
        rig.note(named(orders))
        #expect(try rig.put(messages(1...3)))
        rig.note(.ended(1..<2, of: orders, as: .expired))
        try rig.flush()
        let folder = try rig.folder.copy()
        rig.store.close()
        return folder
    }

    private func refusal(_ folder: StoreFolder) throws -> StorageError? {
        let before = try? Data(contentsOf: URL(filePath: folder.database))
        var found: StorageError?
        do throws(StorageError) {
            try Store(in: folder.path, StoreOptions(boot: "boot")) {}.close()
        } catch {
            found = error
            #expect((try? Data(contentsOf: URL(filePath: folder.database))) == before)
        }
        return found
    }

    private func finding(_ path: String) -> StorageError? {
        do throws(StorageError) {
            _ = try StoreInspection(of: path)
            return nil
        } catch {
            return error
        }
    }

    /// Both must say the same, and `check` first, as it changes nothing.
    private func expectDamaged(_ folder: StoreFolder, _ comment: Comment) throws {
        let finding = finding(folder.path)
        #expect(finding?.reason == .damaged, comment)
        #expect(try refusal(folder) == finding, comment)
    }

    private func remove(_ name: String, in folder: StoreFolder) throws {
        try FileManager.default.removeItem(atPath: folder.path + "/" + name)
    }

    @Test(arguments: [0, 1, 50, 511, 4095]) func `a database that was cut is refused`(size: Int) throws {
        for folder in [try young(), try grown()] {
            try folder.truncate(to: size)
            try? remove("wsbridge.db-wal", in: folder)
            try expectDamaged(folder, "\(size) bytes")
        }
    }

    @Test func `a young store without its log is refused`() throws {
        let (missing, emptied) = (try young(), try young())
        try remove("wsbridge.db-wal", in: missing)
        try expectDamaged(missing, "the log is missing")
        try emptied.truncate("wsbridge.db-wal", to: 0)
        try expectDamaged(emptied, "the log is empty")
        // As it says, or by hand.
        try remove("wsbridge.lock", in: emptied)
        #expect(try refusal(emptied) == nil)
        try remove("wsbridge.db", in: missing)
        #expect(try refusal(missing) == nil)
    }

    @Test func `a log without its database is refused`() throws {
        let folder = try grown()
        try remove("wsbridge.db", in: folder)
        try expectDamaged(folder, "the database is missing")
        try remove("wsbridge.db-wal", in: folder)
        #expect(try refusal(folder) == nil)
    }

    @Test func `one byte is no database, whatever was there before`() throws {
        let folder = try StoreFolder()
        try Data([7]).write(to: URL(filePath: folder.database))
        try expectDamaged(folder, "one byte")
    }

    @Test func `nothing is what whoever begins has`() throws {
        let folder = try StoreFolder()
        try Data().write(to: URL(filePath: folder.database))
        #expect(finding(folder.path) == nil)
        #expect(try StoreRig(folder).recovery.doubts == [])
    }

    @Test func `a log that is missing after a kill is told of, and may have held something`() throws {
        let folder = try grown()
        try remove("wsbridge.db-wal", in: folder)
        let rig = try StoreRig(folder)
        #expect(rig.recovery.doubts == [.logMissing])
        #expect(rig.recovery.gaps.map(\.cause) == [.powerCut])
        rig.store.close()
        #expect(try StoreRig(folder).recovery.doubts == [])
    }

    @Test func `a kill alone gives no doubt`() throws {
        for folder in [try young(), try grown()] {
            let rig = try StoreRig(folder)
            #expect(rig.recovery.doubts == [])
            #expect(rig.recovery.gaps.map(\.cause) == [.end])
        }
    }

    @Test(arguments: [true, false]) func `another database in its place is told of`(hasLock: Bool) throws {
        let (folder, backup) = (try grown(), try grown())
        try remove("wsbridge.db-wal", in: folder)
        try remove("wsbridge.db", in: folder)
        if !hasLock { try remove("wsbridge.lock", in: folder) }
        try Database(backup.database, .writing).execute("VACUUM INTO '\(folder.database)'")
        let before = try StoreRig(backup)
        let after = try StoreRig(folder)
        #expect(after.recovery.doubts == (hasLock ? [.another] : []))
        #expect(after.recovery.epoch != before.recovery.epoch)
        #expect(after.recovery.connections.map(\.name) == ["orders"])
    }

    // MARK: What is in the way

    @Test func `a check finds what is in the way as a start does`() throws {
        let link = try StoreFolder(exists: false)
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "/nowhere/at/all")
        let file = try StoreFolder(exists: false)
        try Data([1]).write(to: URL(filePath: file.path))
        let (lock, database) = (try StoreFolder(), try StoreFolder())
        for path in [lock.path + "/wsbridge.lock", database.database] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        let below = [link.path + "/below", file.path + "/below"]
        for path in [link.path, file.path, lock.path, database.path] + below {
            let finding = finding(path)
            #expect(finding?.reason == .notWritable, "\(path)")
            let failure = #expect(throws: StorageError.self) {
                try Store(in: path, StoreOptions(boot: nil)) {}
            }
            #expect(failure == finding, "\(path)")
        }
    }

    @Test func `a check looks at all pages`() throws {
        let damaged = try DamagedStore(leaves: [7, 9, 11, 13], isMixed: false)
        let finding = finding(damaged.folder.path)
        #expect(finding?.reason == .damaged)
        #expect(finding?.path == damaged.folder.database)
        #expect(finding?.detail.split(separator: ";").count { $0.contains("btreeInitPage") } == 3)
        let whole = try DamagedStore(leaves: [], isMixed: true)
        #expect(try StoreInspection(of: whole.folder.path).text.contains("records: 400"))
    }
}
