import BridgeCore
import FoundationEssentials
import Testing
import WebSocketProtocol

@testable import Storage

/// Files of older versions, and how they become new ones.
struct MigrationTests {
    /// A folder with the stored file of a version.
    private func folder(version: Int) throws -> StoreFolder {
        let folder = try StoreFolder()
        let files = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Files")
        let script = files.appending(path: "version-\(version).sql")
        try Data().write(to: URL(filePath: folder.database))
        let database = try Database(folder.database, .writing)
        try database.execute(try String(contentsOf: script, encoding: .utf8))
        return folder
    }

    @Test func `every version that there was has a stored file`() throws {
        for version in 1...Schema.current.version { _ = try folder(version: version) }
    }

    @Test func `all that a file of version 1 holds is understood`() throws {
        let rig = try StoreRig(try folder(version: 1))
        #expect(rig.recovery.headSequence == 9)
        #expect(rig.recovery.gaps == [StoredGap(7...7, .powerCut)])
        #expect(rig.recovery.nextConnection == StoredConnectionID(number: 5))
        #expect(rig.recovery.connections.map(\.name) == ["orders", "trades"])
        let connection = try #require(rig.recovery.connections.first)
        let base: Int64 = 1_764_542_000_000
        var history = StoredHistory()
        (history.records, history.bytes, history.oldest) = (3, 45, 3)
        (history.recorded, history.newest) = (5, 8)
        (history.trimmed, history.trimmedThrough, history.trimmedAt) = (2, 2, time(base + 2))
        #expect(connection.history == history)
        #expect(connection.lastMessage == 5)
        #expect(
            connection.messages == [
                StoredMessage(
                    number: 3,
                    queuedAt: time(base + 10),
                    message: Message(.text, Array("three".utf8))
                ),
                StoredMessage(number: 5, queuedAt: time(base + 11), message: Message(.binary, [])),
            ]
        )
        #expect(
            connection.outcomes == [
                StoredOutcome(number: 1, queuedAt: time(base + 12), state: .sent(at: time(base + 13))),
                StoredOutcome(number: 2, queuedAt: time(base + 12), state: .expired),
                StoredOutcome(number: 4, queuedAt: time(base + 12), state: .dropped),
            ]
        )
        #expect(connection.keys.map(\.key) == ["first", "second"])
        #expect(connection.keys.map(\.answer?.text) == ["1 sent \(base + 13);1 queued", nil])
        let kinds = try rig.records(of: orders, trades).map(\.kind)
        #expect(kinds == [.receivedText, .receivedBinary, .status, .sentText, .sentBinary])
        #expect(try rig.records(of: orders, trades).map(\.ordinal) == [2, 0, 3, 1, 4])
        let status = try rig.records(of: orders)[1]
        #expect(Lifecycle(storedBytes: status.payload) == .gaveUp(attempts: 3))
    }

    @Test func `a file becomes one of each newer version in turn`() throws {
        let folder = try folder(version: 1)
        var schema = Schema.current
        schema.scripts += [
            "CREATE TABLE second (x INTEGER) STRICT", "ALTER TABLE second ADD COLUMN y INTEGER",
        ]
        let newer = schema
        try StoreRig(folder) { $0.schema = newer }.store.close()
        let database = try Database(folder.database, .reading)
        #expect(try database.integer("SELECT count(*) FROM migrations") == 3)
        #expect(try database.integer("SELECT count(*) FROM pragma_table_info('second')") == 2)
        // The program of before leaves it alone.
        #expect(throws: StorageError.self) { _ = try StoreRig(folder) }
    }

    @Test func `a step that fails leaves the file as it was`() throws {
        let folder = try folder(version: 1)
        var schema = Schema.current
        schema.scripts += ["CREATE TABLE second (x INTEGER) STRICT", "no SQL at all"]
        let newer = schema
        #expect(throws: StorageError.self) { _ = try StoreRig(folder) { $0.schema = newer } }
        let database = try Database(folder.database, .reading)
        #expect(try database.integer("SELECT max(version) FROM migrations") == 1)
        #expect(try database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'second'") == 0)
        #expect(try StoreRig(folder).recovery.headSequence == 9)
    }
}
