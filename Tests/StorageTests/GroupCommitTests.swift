import BridgeCore
import Testing

@testable import Storage

/// Many changes share a transaction and a sync, and what waits is bounded.
struct GroupCommitTests {
    @Test func `all that waits is committed and synced together`() throws {
        let (gate, disk) = (Gate(), try Disk())
        let rig = try StoreRig {
            $0.vfs = disk.name
        } onWake: {
            gate.pass()
        }
        rig.note(named(orders))
        try rig.flush()
        gate.shut()
        _ = try rig.store.offer([messages(1...1)], .synced)
        gate.waitForWriter()
        let before = disk.syncs
        let tickets = try (2...101 as ClosedRange<UInt64>).map {
            try rig.store.offer([messages($0...$0)], .synced)
        }
        gate.open()
        #expect(tickets.allSatisfy { rig.isKept($0) })
        #expect(disk.syncs == before + 1)
        rig.store.close()
    }

    @Test func `who waits for the commit alone does not wait for the disk`() throws {
        let disk = try Disk()
        let rig = try StoreRig {
            $0.vfs = disk.name
            $0.syncInterval = .seconds(3600)
        }
        rig.note(named(orders))
        try rig.flush()
        let before = disk.syncs
        for sequence in 1...50 as ClosedRange<UInt64> {
            #expect(try rig.put(.record(record(sequence)), promise: .committed))
        }
        #expect(disk.syncs == before)
        rig.store.close()
    }

    @Test func `what is committed is synced soon, though nobody waits for it`() throws {
        let rig = try StoreRig()
        rig.note(named(orders))
        let ticket = try rig.store.offer([.record(record(1))], .committed)
        // No promise asks for it: the interval alone brings it about.
        rig.wait { $0.synced >= ticket }
        #expect(rig.refused == [])
    }

    @Test func `too much that waits is told, then refused, until it is written`() throws {
        let gate = Gate()
        let rig = try StoreRig {
            $0.congestion = 10_000
        } onWake: {
            gate.pass()
        }
        rig.note(named(orders))
        try rig.flush()
        gate.shut()
        _ = try rig.store.offer([], .synced)
        gate.waitForWriter()
        let text = String(repeating: "x", count: 1000)
        var sequence: UInt64 = 0
        var last = StoreTicket(number: 0)
        while true {
            do throws(StoreRefusal) {
                last = try rig.store.offer([.record(record(sequence + 1, text))], .committed)
            } catch {
                #expect(error == .overloaded)
                break
            }
            sequence += 1
        }
        #expect(15...20 ~= sequence)
        #expect(rig.store.isCongested)
        #expect(rig.store.busySince != nil)
        gate.open()
        #expect(rig.isKept(last, .committed))
        rig.wait { !$0.isCongested }
        #expect(try rig.put(.record(record(sequence + 1))))
        #expect(try rig.records(of: orders).count == Int(sequence) + 1)
    }

    @Test func `an offer that is larger than all that may wait is taken where little else waits`() throws {
        let rig = try StoreRig { $0.congestion = 1000 }
        rig.note(named(orders))
        try rig.flush()
        #expect(try rig.put(.record(record(1, String(repeating: "x", count: 100_000)))))
    }
}
