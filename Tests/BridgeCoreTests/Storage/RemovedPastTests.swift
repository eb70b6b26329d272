import BridgeCore
import Testing
import WebSocketProtocol

/// What a stored log tells of a connection that was removed and made again, before and after a restart.
@Suite struct `Removed pasts` {
    private static let origin = StoreRecovery(
        epoch: Epoch(bits: 7),
        headSequence: 0,
        nextConnection: StoredConnectionID(number: 1)
    )

    private func log(_ head: UInt64 = 0) -> EventLog {
        var recovery = Self.origin
        recovery.headSequence = head
        return EventLog(restoring: recovery)
    }

    private func register(_ id: Int64, _ past: StoredHistory = StoredHistory(), in log: inout EventLog) throws
        -> ConnectionIndex
    {
        var stored = StoredConnection(id: StoredConnectionID(number: id), name: "orders")
        stored.history = past
        let index = log.register("orders", limits: HistoryLimits(), as: stored)
        return try #require(index)
    }

    private func show(_ count: Int, of index: ConnectionIndex, in log: inout EventLog) throws {
        for _ in 0..<count {
            let time = WallTime(millisecondsSince1970: 5)
            let staged = log.stage(.message(Message(.text, [1])), of: index, at: time)
            log.publish(try #require(staged), isStored: true)
        }
    }

    /// The gap that a reader gets who stands at each sequence up to `last`.
    private func gaps(_ index: ConnectionIndex, _ log: EventLog, through last: UInt64) -> [Gap?] {
        (0...last).map { sequence in
            let id = EventID(epoch: Epoch(bits: 7), sequence: sequence)
            var cursor = log.cursor(at: .after(id), of: ConnectionSelection([index]))
            guard case .gap(let gap)? = log.read(&cursor, maxRecords: 1, maxBytes: 100).first else {
                return nil
            }
            return gap
        }
    }

    private func past(_ index: ConnectionIndex, _ log: EventLog) throws -> StoredHistory {
        guard case .connection(_, "orders", _, let past)? = log.registered(index) else {
            throw CancellationError()
        }
        return past
    }

    @Test func `who has an id of the one before is told the same after a restart`() throws {
        var before = log()
        let first = try register(1, in: &before)
        try show(4, of: first, in: &before)
        before.remove(first)
        let second = try register(2, in: &before)
        let told = gaps(second, before, through: 4)
        #expect(told.map { $0?.missed } == [4, 3, 2, 1, nil])
        var after = log(4)
        let again = try register(2, try past(second, before), in: &after)
        #expect(gaps(again, after, through: 4) == told)
        // And once more, when that one is removed as well.
        try show(2, of: again, in: &after)
        after.remove(again)
        let third = try register(3, in: &after)
        var last = log(6)
        let restored = try register(3, try past(third, after), in: &last)
        #expect(gaps(restored, last, through: 6).map { $0?.missed } == [6, 5, 4, 3, 2, 1, nil])
    }

    @Test func `of one that still closes it is not known how much was lost, also after a restart`() throws {
        var before = log()
        let first = try register(1, in: &before)
        try show(4, of: first, in: &before)
        before.release("orders")
        let second = try register(2, in: &before)
        #expect(try past(second, before).unknownThrough == 4)
        let told = gaps(second, before, through: 4)
        #expect(told.prefix(4).allSatisfy { $0 != nil && $0?.missed == nil } && told[4] == nil)
        var after = log(4)
        let again = try register(2, try past(second, before), in: &after)
        #expect(gaps(again, after, through: 4) == told)
    }

    @Test func `the first of a name since the start has what was removed before`() {
        var recovery = Self.origin
        var removed = StoredConnection(id: StoredConnectionID(number: 1), name: "orders")
        removed.history.recorded = 3
        recovery.removed = [removed]
        recovery.forgottenThrough = 8
        var connections = StoredConnections(recovery)
        #expect(connections.claim("orders").history.recorded == 3)
        // The log knows more by then.
        #expect(connections.claim("orders").history.recorded == 0)
        #expect(connections.claim("trades").history.unknownThrough == 8)
    }
}
