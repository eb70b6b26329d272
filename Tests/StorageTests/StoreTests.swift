import BridgeCore
import FoundationEssentials
import Testing
import WebSocketProtocol

@testable import Storage

/// What a store still knows when it is opened again.
struct StoreTests {
    @Test func `a store that is closed without waiting says when that is done`() throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        let ticket = try rig.store.offer([messages(1...2)], .synced)
        rig.store.beginClosing()
        rig.wait { $0.isClosed }
        #expect(rig.news.synced >= ticket)
        // Its thread lets go of the directory last.
        rig.store.close()
        #expect(try StoreRig(rig.folder).recovery.connections.first?.messages.count == 2)
    }

    @Test func `a new store has nothing, and an epoch`() throws {
        let rig = try StoreRig(StoreFolder(exists: false))
        #expect(rig.recovery.headSequence == 0)
        #expect(rig.recovery.connections == [])
        #expect(rig.recovery.gaps == [])
        #expect(rig.recovery.epoch.bits > 0)
    }

    @Test func `what was stored is there again`() throws {
        let rig = try StoreRig()
        rig.note(named(orders), named(trades, "trades"))
        var sent = record(2, of: trades, at: 7, "")
        sent.kind = .sentBinary
        sent.topic = "a.b\u{0}c"
        #expect(try rig.put(.record(record(1)), .record(sent), messages(1...3, key: "k")))
        rig.note(.ended(2..<3, of: orders, as: .sent(at: time(9))))
        rig.store.close()
        let again = try StoreRig(rig.folder)
        #expect(again.recovery.headSequence == 2)
        #expect(again.recovery.epoch == rig.recovery.epoch)
        #expect(again.recovery.gaps == [])
        #expect(again.recovery.nextConnection == StoredConnectionID(number: 3))
        #expect(try again.records(of: orders, trades) == [record(1), sent])
        let connection = try #require(again.recovery.connections.first)
        #expect(connection.name == "orders")
        #expect(connection.lastMessage == 3)
        #expect(connection.messages == [message(1, "message 1"), message(3, "message 3")])
        let outcome = StoredOutcome(number: 2, queuedAt: time(2), state: .sent(at: time(9)))
        #expect(connection.outcomes == [outcome])
        #expect(connection.keys.map(\.key) == ["k"])
        #expect(connection.keys.map(\.answer) == [nil])
        #expect(connection.history.records == 1)
        #expect(connection.history.bytes == 5)
    }

    @Test func `a message of any size and kind comes back as it was`() throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        let sizes = [0, 1, 4095, 4096, 100_000, 3_000_000]
        let stored = sizes.enumerated().map { index, size in
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
            return StoredMessage(
                number: UInt64(index + 1),
                queuedAt: time(-1),
                message: Message(index % 2 == 0 ? .binary : .text, bytes)
            )
        }
        #expect(try rig.put(.messages(stored, of: orders, key: nil)))
        rig.store.close()
        #expect(try StoreRig(rig.folder).recovery.connections.first?.messages == stored)
    }

    @Test func `a process that is killed loses nothing that was committed`() throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        #expect(try rig.put(.record(record(1)), messages(1...1), promise: .committed))
        let again = try StoreRig(try rig.folder.copy())
        #expect(again.recovery.epoch == rig.recovery.epoch)
        #expect(try again.records(of: orders) == [record(1)])
        #expect(again.recovery.connections.first?.messages.count == 1)
        // More may have been shown while nothing could be stored.
        let head = again.recovery.headSequence
        #expect(head > 500_000)
        #expect(again.recovery.gaps == [StoredGap(2...head, .end)])
    }

    @Test(arguments: ["another boot", nil])
    func `after a power cut ids go on beyond all that may have been shown, with a gap`(boot: String?) throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        #expect(try rig.put(.record(record(1))))
        let folder = try rig.folder.copy()
        let again = try StoreRig(folder, boot: boot)
        let head = again.recovery.headSequence
        #expect(head > 500_000)
        #expect(again.recovery.gaps == [StoredGap(2...head, .powerCut)])
        #expect(try again.records(of: orders) == [record(1)])
        again.store.close()
        // It was closed, so nothing more is lost.
        #expect(try StoreRig(folder, boot: "a third boot").recovery.gaps == [StoredGap(2...head, .powerCut)])
    }

    @Test func `a backup made while it runs is complete, and its ids are not those of the original`() throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        #expect(try rig.put(.record(record(1)), messages(1...2)))
        let backup = try StoreFolder()
        let shell = try Database(rig.folder.database, .reading)
        try shell.execute("VACUUM INTO '\(backup.database)'")
        #expect(try rig.put(.record(record(2))))
        rig.store.close()
        try FileManager.default.removeItem(atPath: rig.folder.database)
        try FileManager.default.copyItem(atPath: backup.database, toPath: rig.folder.database)
        let restored = try StoreRig(rig.folder)
        #expect(restored.recovery.epoch != rig.recovery.epoch)
        #expect(restored.recovery.connections.first?.messages.count == 2)
        #expect(try restored.records(of: orders) == [record(1)])
    }

    @Test func `a removed connection leaves nothing, and its id is not given again`() throws {
        let rig = try StoreRig()
        rig.note(named(orders), named(trades, "trades"))
        let many = (1...2000).map { StoreOffer.record(record(UInt64($0), of: trades)) }
        #expect(rig.isKept(try rig.store.offer(many + [messages(1...600, of: trades, key: "k")], .synced)))
        rig.note(.removed(trades))
        try rig.flush()
        let folder = try rig.folder.copy()
        #expect(try StoreRig(folder).recovery.connections.map(\.name) == ["orders"])
        rig.store.close()
        let again = try StoreRig(rig.folder)
        #expect(again.recovery.nextConnection == StoredConnectionID(number: 3))
        // A name that comes again has nothing of what was.
        again.note(named(StoredConnectionID(number: 3), "trades"))
        try again.flush()
        again.store.close()
        let database = try Database(rig.folder.database, .reading)
        #expect(try database.integer("SELECT count(*) FROM outbox") == 0)
        #expect(try database.integer("SELECT count(*) FROM idempotency_keys") == 0)
        #expect(try database.integer("SELECT count(*) FROM records") == 0)
    }

    @Test func `many messages come back as they were, however they were written`() throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        // Short ones go in by eights; one that is long, and what is left, by themselves.
        let sizes =
            [0, 1, 2, 3, 4, 5, 6, 1024] + [0, 0, 0, 1025, 0, 0, 0, 0] + Array(repeating: 7, count: 19)
        let all = zip(1..., sizes).map { number, size in
            let bytes = [UInt8](repeating: UInt8(number), count: size)
            let message = Message(number.isMultiple(of: 3) ? .binary : .text, bytes)
            return StoredMessage(number: UInt64(number), queuedAt: time(Int64(number)), message: message)
        }
        for part in [all[..<16], all[16...]] {
            #expect(try rig.put(.messages(Array(part), of: orders, key: nil)))
        }
        rig.store.close()
        #expect(try StoreRig(rig.folder).recovery.connections.first?.messages == all)
    }

    @Test func `the end of many messages is that of each that waits`() throws {
        let rig = try StoreRig()
        rig.note(named(orders), named(trades, "trades"))
        #expect(try rig.put(messages(1...4), messages(6...8), messages(1...8, of: trades)))
        rig.note(.ended(2..<3, of: orders, as: .dropped))
        // 2 has ended before, and there is no 5.
        rig.note(.ended(1..<8, of: orders, as: .sent(at: time(9))), .ended(3..<3, of: trades, as: .expired))
        rig.store.close()
        let connections = try StoreRig(rig.folder).recovery.connections
        #expect(connections.map { $0.messages.map(\.number) } == [[8], Array(1...8)])
        let expected = [1, 2, 3, 4, 6, 7].map { number in
            StoredOutcome(
                number: number,
                queuedAt: time(Int64(number)),
                state: number == 2 ? .dropped : .sent(at: time(9))
            )
        }
        #expect(connections.map(\.outcomes) == [expected, []])
    }

    @Test(arguments: [1, 100, 10_005]) func `the newest final states are kept, however many come at once`(
        _ count: UInt64
    ) throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        let last = UInt64(MessageJournal.limit + 5)
        #expect(try rig.put(messages(1...last)))
        for first in stride(from: 1, through: last, by: Int(count)) {
            rig.note(.ended(first..<min(first + count, last + 1), of: orders, as: .expired))
        }
        try rig.flush()
        rig.store.close()
        let connection = try #require(try StoreRig(rig.folder).recovery.connections.first)
        #expect(connection.messages == [])
        #expect(connection.outcomes.map(\.number) == Array(6...last))
    }

    @Test func `messages that were withdrawn are as if they had never been`() throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        #expect(try rig.put(messages(1...3, key: "k"), messages(4...4)))
        rig.note(.ended(2..<3, of: orders, as: .dropped), .withdrawn(1..<4, of: orders, key: "k"))
        rig.store.close()
        let connection = try #require(try StoreRig(rig.folder).recovery.connections.first)
        #expect(connection.messages.map(\.number) == [4])
        #expect(connection.outcomes == [])
        #expect(connection.keys == [])
    }

    @Test func `the first answer to a key stays, over restarts`() throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        #expect(try rig.put(messages(1...3, key: "k")))
        let first = MessageStates([(2, .sent(at: time(8))), (1, .queued)])
        rig.note(.answered(key: "k", of: orders, first))
        rig.note(.answered(key: "k", of: orders, MessageStates([(3, .dropped)])))
        rig.store.close()
        #expect(try StoreRig(rig.folder).recovery.connections.first?.keys.first?.answer == first)
    }

    @Test func `the newest final states are kept, and keys for a day`() throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        let count = UInt64(MessageJournal.limit + 5)
        #expect(try rig.put(messages(1...count, key: "old")))
        rig.store.note((1...count).map { .ended($0..<$0 + 1, of: orders, as: .expired) })
        let nextDay = time(5 + 24 * 3_600_000 + 1)
        let key = StoredKey(key: "new", fingerprint: [], firstUse: nextDay, firstMessage: 0, count: 0)
        #expect(try rig.put(.messages([], of: orders, key: key)))
        rig.store.close()
        let connection = try #require(try StoreRig(rig.folder).recovery.connections.first)
        #expect(connection.outcomes.map(\.number) == Array(6...count))
        #expect(connection.keys.map(\.key) == ["new"])
        #expect(connection.lastMessage == count)
    }
}
