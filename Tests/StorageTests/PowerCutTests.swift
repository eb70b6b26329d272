import BridgeCore
import Synchronization
import Testing
import WebSocketTestSupport

@testable import Storage

/// Random walks under which the power is cut again and again.
///
/// Every cut leaves what was synced and any part of the rest. What was promised before has to be there.
struct PowerCutTests {
    /// What the store had promised at some moment, all of it kept by the writer's thread.
    struct Promises: Sendable {
        /// Messages whose ticket was synced: they wait, or have ended.
        var messages: Set<UInt64> = []
        /// The greatest sequence that may have been shown.
        var shown: UInt64 = 0
        /// Records whose ticket was synced.
        var records: UInt64 = 0
    }

    /// What was given, by ticket, until it is promised.
    struct Ledger: Sendable {
        var given: [(ticket: StoreTicket, messages: [UInt64], record: UInt64)] = []
        var promises = Promises()

        mutating func take(_ news: StoreNews) {
            while let first = given.first, first.ticket <= news.synced {
                promises.messages.formUnion(first.messages)
                promises.records = max(promises.records, first.record)
                promises.shown = max(promises.shown, first.record)
                given.removeFirst()
            }
            for entry in given where entry.ticket <= news.committed {
                promises.shown = max(promises.shown, entry.record)
            }
        }
    }

    /// Shared by the thread that offers and the one that writes.
    final class Walk: Sendable {
        let ledger = Mutex(Ledger())
        let store = Mutex<Store?>(nil)
        let remains = Mutex<[(folder: StoreFolder, promises: Promises)]>([])

        func wake() {
            guard let store = store.withLock(\.self) else { return }
            let news = store.takeNews()
            ledger.withLock { $0.take(news) }
        }
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `whatever was promised is there after a power cut`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (walk, disk, folder) = (Walk(), try Disk(), try StoreFolder())
        var options = StoreOptions(boot: "boot")
        options.vfs = disk.name
        options.checkpointPages = 20
        options.syncInterval = .milliseconds(Int64.random(in: 0...5, using: &random))
        // Before it is opened, so that the power is cut then, too.
        disk.every(Int.random(in: 7...31, using: &random)) {
            let promises = walk.ledger.withLock(\.promises)
            let cuts = walk.remains.withLock(\.count)
            guard cuts < 40, let remains = try? disk.cut(folder, seed: seed &* 1000 &+ UInt64(cuts)) else {
                return
            }
            walk.remains.withLock { $0.append((remains, promises)) }
        }
        let store = try Store(in: folder.path, options) { walk.wake() }
        walk.store.withLock { $0 = store }
        store.note([named(orders, limits: HistoryLimits(maxMessages: 50))])
        var number: UInt64 = 0
        for sequence in 1...400 as ClosedRange<UInt64> {
            let size = Int.random(in: 0...3000, using: &random)
            var offers: [StoreOffer] = [.record(record(sequence, String(repeating: "r", count: size)))]
            let count = UInt64.random(in: 0...2, using: &random)
            let numbers = count > 0 ? Array(number + 1...number + count) : []
            if count > 0 { offers.append(messages(number + 1...number + count, key: "key \(number)")) }
            let promise: StorePromise = Bool.random(using: &random) ? .synced : .committed
            walk.ledger.withLock { ledger in
                guard let ticket = try? store.offer(offers, promise) else { return }
                ledger.given.append((ticket, numbers, sequence))
            }
            number += count
            if number > 3, Bool.random(using: &random) {
                let first = UInt64.random(in: 1...number - 3, using: &random)
                let end = UInt64.random(in: first + 1...number - 2, using: &random)
                store.note([.ended(first..<end, of: orders, as: .expired)])
            }
        }
        store.close()
        disk.stop()
        walk.store.withLock { $0 = nil }
        let remains = walk.remains.withLock(\.self)
        #expect(remains.count > 5)
        for (folder, promises) in remains { try check(folder, promises) }
    }

    private func check(_ folder: StoreFolder, _ promises: Promises) throws {
        let rig = try StoreRig(folder, boot: "after the cut")
        // Cut while it was being made: it need not have known anything.
        let connection = rig.recovery.connections.first ?? StoredConnection(id: orders, name: "")
        let known = Set(connection.messages.map(\.number) + connection.outcomes.map(\.number))
        #expect(promises.messages.subtracting(known) == [])
        #expect(connection.messages.map(\.number) == connection.messages.map(\.number).sorted())
        for waiting in connection.messages {
            #expect(waiting == message(waiting.number, "message \(waiting.number)"))
        }
        // Each key came with its messages.
        for key in connection.keys {
            #expect(known.contains(key.firstMessage))
            #expect(known.contains(key.firstMessage + UInt64(key.count) - 1))
        }
        // No id is given twice, and the records that are there are the last of a row without a hole.
        #expect(rig.recovery.headSequence >= promises.shown)
        let kept = try rig.records(of: orders).map(\.sequence)
        let newest = max(kept.last ?? 0, connection.history.trimmedThrough)
        #expect(newest >= promises.records)
        #expect(kept == Array((newest + 1 - UInt64(kept.count))..<newest + 1))
        #expect(connection.history.records == kept.count)
        #expect(connection.history.trimmed + UInt64(kept.count) == newest)
        if promises.shown > newest {
            let gap = rig.recovery.gaps.last
            #expect(gap?.sequences.contains(promises.shown) == true && gap?.cause == .powerCut)
        }
        #expect(connection.history.recorded == newest)
        #expect(connection.history.oldest == kept.first ?? 0)
        rig.store.close()
        let database = try Database(folder.database, .reading)
        #expect(try database.text("PRAGMA integrity_check") == "ok")
    }
}
