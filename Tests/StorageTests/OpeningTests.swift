import BridgeCore
import Foundation
import PowerCut
import Testing

@testable import Storage

/// What keeps a store from being opened, and what is said of it.
struct OpeningTests {
    private func failure(_ folder: StoreFolder, boot: String? = "boot") -> StorageError? {
        do throws(StorageError) {
            let store = try Store(in: folder.path, StoreOptions(boot: boot)) {}
            store.close()
            return nil
        } catch {
            return error
        }
    }

    /// A store that was closed.
    private func closed() throws -> StoreFolder {
        let rig = try StoreRig()
        rig.note(named(orders))
        for sequence in 1...200 as ClosedRange<UInt64> {
            _ = try rig.store.offer(
                [.record(record(sequence, String(repeating: "x", count: 500)))],
                .committed
            )
        }
        #expect(try rig.put(messages(1...100)))
        rig.store.close()
        return rig.folder
    }

    @Test func `one process has a directory at a time`() throws {
        let rig = try StoreRig()
        let failure = failure(rig.folder)
        #expect(failure?.reason == .inUse(process: ProcessInfo.processInfo.processIdentifier))
        #expect(failure?.text.contains("in use by process") == true)
        rig.store.close()
        #expect(self.failure(rig.folder) == nil)
    }

    @Test func `a newer version is left alone`() throws {
        let folder = try closed()
        let database = try Database(folder.database, .writing)
        try database.execute("INSERT INTO migrations VALUES (99, 0)")
        let found = failure(folder)
        #expect(found?.reason == .newer(version: 99, known: 1))
        #expect(try database.integer("SELECT count(*) FROM migrations") == 2)
    }

    @Test(arguments: [true, false])
    func `whoever was killed while the mark changed goes on with the same ids`(isFirst: Bool) throws {
        let folder = try closed()
        let before = try StoreRig(folder)
        before.store.close()
        let lock = folder.path + "/wsbridge.lock"
        let mark = try #require(try lines(lock).last)
        // As it is before the database changed, or after it.
        try write([String(getpid())] + (isFirst ? [mark, "other 1"] : ["other 1", mark]), to: lock)
        let after = try StoreRig(folder)
        #expect(after.recovery.epoch == before.recovery.epoch)
        after.store.close()
        try write([String(getpid()), "other 1", "another 1"], to: lock)
        #expect(try StoreRig(folder).recovery.epoch != before.recovery.epoch)
    }

    private func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private func write(_ lines: [String], to path: String) throws {
        try lines.joined(separator: "\n").write(toFile: path, atomically: false, encoding: .utf8)
    }

    @Test(arguments: ["CREATE TABLE notes (text TEXT)", "PRAGMA application_id = 7"])
    func `a database of another program is left alone`(script: String) throws {
        let folder = try StoreFolder()
        try Data().write(to: URL(filePath: folder.database))
        try Database(folder.database, .writing).execute(script)
        #expect(failure(folder)?.reason == .foreign)
    }

    @Test(arguments: [0, 16, 100, 4096])
    func `a damaged file is recognised`(offset: UInt64) throws {
        let folder = try closed()
        try folder.damage(at: offset, with: Array(repeating: 0xA5, count: 64))
        #expect(failure(folder)?.reason == .damaged)
    }

    @Test func `what is damaged in the middle is recognised after a power cut`() throws {
        let rig = try StoreRig { $0.checkpointPages = 1 }
        rig.note(named(orders))
        for sequence in 1...200 as ClosedRange<UInt64> {
            _ = try rig.store.offer(
                [.record(record(sequence, String(repeating: "x", count: 500)))],
                .committed
            )
        }
        try rig.flush()
        rig.store.close()
        let database = try Database(rig.folder.database, .writing)
        try database.execute("UPDATE store SET clean = 0")
        let page = try database.integer(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'records_of_connection'"
        )
        try database.checkpoint(truncating: true)
        try rig.folder.damage(
            at: UInt64(try #require(page) - 1) * 4096,
            with: Array(repeating: 0, count: 512)
        )
        #expect(failure(rig.folder, boot: "another")?.reason == .damaged)
    }

    @Test(arguments: [0, 50, 4096, 20_000])
    func `a file that was cut off is recognised`(size: Int) throws {
        let folder = try closed()
        try folder.truncate(to: size)
        let found = failure(folder)
        #expect(found?.reason == .damaged)
        #expect(found?.text.contains("move it") == true)
    }

    @Test func `one may start anew by moving the file away`() throws {
        let folder = try closed()
        let before = try StoreRig(folder)
        before.store.close()
        try FileManager.default.removeItem(atPath: folder.database)
        let after = try StoreRig(folder)
        #expect(after.recovery.connections == [])
        #expect(after.recovery.epoch != before.recovery.epoch)
    }

    @Test(arguments: [0o555, 0o000])
    func `a directory that may not be written is named`(mode: Int) throws {
        let folder = try StoreFolder()
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path)
        let nobody: UInt32 = 65_534
        file_user_set(nobody)
        let found = failure(folder)
        file_user_set(0)
        #expect(found?.reason == .notWritable)
        #expect(found?.path.hasPrefix(folder.path) == true)
        #expect(found?.detail == "Permission denied")
    }

    @Test func `a database that may not be written is named`() throws {
        let folder = try closed()
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o666],
            ofItemAtPath: folder.path + "/wsbridge.lock"
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: folder.database)
        file_user_set(65_534)
        let found = failure(folder)
        file_user_set(0)
        #expect(found?.reason == .notWritable)
        #expect(found?.path == folder.database)
    }

    @Test func `a file is no directory`() throws {
        let folder = try StoreFolder()
        try Data([1]).write(to: URL(filePath: folder.path + "/file"))
        let inside = { (path: String) throws(StorageError) in
            _ = try Store(in: path, StoreOptions(boot: nil)) {}
        }
        #expect(throws: StorageError.self) { try inside(folder.path + "/file") }
        #expect(throws: StorageError.self) { try inside(folder.path + "/file/deeper") }
    }

    @Test func `only the owner may read what is stored`() throws {
        let rig = try StoreRig(StoreFolder(exists: false))
        try rig.flush()
        let files = ["", "/wsbridge.db", "/wsbridge.db-wal", "/wsbridge.db-shm", "/wsbridge.lock"]
        let modes = try files.map { name in
            let attributes = try FileManager.default.attributesOfItem(atPath: rig.folder.path + name)
            return attributes[.posixPermissions] as? Int
        }
        #expect(modes == [0o700, 0o600, 0o600, 0o600, 0o600])
    }
}
