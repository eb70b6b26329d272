/// The bridge's memory of what happened: one sequence over all connections, a bounded history for each.
///
/// A value for one thread. Nothing that it forgets is forgotten silently: readers get a `Gap`.
package struct EventLog {
    package let epoch: Epoch
    /// The sequence of the newest record that may be seen, kept or not; 0 before the first.
    package internal(set) var headSequence: UInt64 = 0
    /// The greatest sequence that a record has.
    var lastSequence: UInt64 = 0
    /// In the order of their indices; the slot of a removed connection stays for a while, to know what was lost.
    var histories: [History] = []
    /// Whether records are stored.
    package internal(set) var isStored = false
    /// Those that are, by their names there.
    var connections: [StoredConnectionID: ConnectionIndex] = [:]
    /// Sequences that were skipped, oldest first, and the last of them.
    var gaps: [StoredGap] = []
    var gapsThrough: UInt64 = 0
    /// What all records that are kept take of the process' memory.
    package private(set) var memoryBytes = 0
    private var indices: [String: ConnectionIndex] = [:]
    /// Each with the number of its removal.
    private var removed: [ConnectionIndex: UInt64] = [:]
    private var removals: UInt64 = 0
    /// The newest record of removed connections that are not remembered any more.
    private var forgotten: UInt64 = 0

    /// Names that were let go of, until they are given again, and the newest record then.
    private var released: [String: UInt64] = [:]

    /// Slots of removed connections that are not remembered any more.
    private var free: [ConnectionIndex] = []

    /// Removed connections that are remembered; up to twice as many, so that forgetting costs little.
    private static let mostRemoved = 1024

    package init(epoch: Epoch) {
        self.epoch = epoch
    }

    /// The id of the newest record, which is where a live reader starts.
    package var head: EventID { id(headSequence) }

    /// The id of the record that came last, which may still be on its way to the store.
    package var newest: EventID { id(lastSequence) }

    package func id(_ sequence: UInt64) -> EventID {
        EventID(epoch: epoch, sequence: sequence)
    }

    /// Makes room for a connection, or changes the limits of one that is there.
    ///
    /// A removed connection that comes back gets its old index, so that readers from before learn of their loss; of one
    /// that is not remembered they learn that they may have lost something. Nil when there are 65,536.
    package mutating func register(_ name: String, limits: HistoryLimits) -> ConnectionIndex? {
        if let index = indices[name] {
            removed[index] = nil
            change(Int(index.number)) { history in
                history.limits = limits
                history.enforceSize()
            }
            return index
        }
        var history = History(name: name, limits: limits)
        history.unknownThrough = max(forgotten, released.removeValue(forKey: name) ?? 0)
        if let index = free.popLast() {
            histories[Int(index.number)] = history
            indices[name] = index
            return index
        }
        guard let number = UInt16(exactly: histories.count) else { return nil }
        let index = ConnectionIndex(number: number)
        histories.append(history)
        indices[name] = index
        return index
    }

    /// Forgets the older half of what was removed, if that is too much.
    private mutating func forgetRemoved() {
        guard removed.count >= 2 * EventLog.mostRemoved else { return }
        for (index, _) in removed.sorted(by: { $0.value < $1.value }).prefix(EventLog.mostRemoved) {
            let history = histories[Int(index.number)]
            removed[index] = nil
            if indices[history.name] == index { indices[history.name] = nil }
            forgotten = max(forgotten, history.evictions.last)
            free.append(index)
        }
    }

    /// Lets a name be given to another connection, while one that has it is about to be removed.
    mutating package func release(_ name: String) {
        guard index(of: name) != nil else { return }
        indices[name] = nil
        released[name] = lastSequence
    }

    /// Forgets a connection and all its records; readers that had not seen them all get a gap.
    package mutating func remove(_ connection: ConnectionIndex) {
        removals += 1
        removed[connection] = removals
        if let id = histories[Int(connection.number)].disk?.id { connections[id] = nil }
        change(Int(connection.number)) { $0.evictAll() }
        forgetRemoved()
    }

    /// Nil when no connection has this name.
    package func index(of name: String) -> ConnectionIndex? {
        indices[name].flatMap { removed[$0] == nil ? $0 : nil }
    }

    /// Those that there are and whose names are wanted.
    package func connections(where isWanted: (String) -> Bool) -> [ConnectionIndex] {
        indices.filter { removed[$0.value] == nil && isWanted($0.key) }.map(\.value)
    }

    package func name(of connection: ConnectionIndex) -> String {
        histories[Int(connection.number)].name
    }

    /// Whether what was sent is to be recorded, too.
    package func includesSent(_ connection: ConnectionIndex) -> Bool {
        histories[Int(connection.number)].limits.includeSent
    }

    package func status(of connection: ConnectionIndex) -> HistoryStatus {
        let history = histories[Int(connection.number)]
        guard let disk = history.disk else {
            return HistoryStatus(
                messages: history.records.count,
                bytes: history.byteCount,
                oldest: history.records.first.map { id($0.sequence) },
                newest: history.records.last.map { id($0.sequence) }
            )
        }
        let unstored = disk.unstored.joined().compactMap(history.record)
        let messages = disk.kept.records + unstored.count
        let newest = history.records.last?.sequence ?? disk.kept.newest
        return HistoryStatus(
            messages: messages,
            bytes: disk.kept.bytes + unstored.reduce(0) { $0 + $1.byteCount },
            oldest: messages > 0 ? history.sequenceBeforeOldest.map { id($0 + 1) } : nil,
            newest: messages > 0 ? id(newest) : nil
        )
    }

    /// Adds a record at the end and evicts what this makes too much.
    ///
    /// The record is returned to be encoded for live readers, who get it even where nothing is kept.
    @discardableResult
    package mutating func append(
        _ payload: Record.Payload,
        of connection: ConnectionIndex,
        direction: Record.Direction = .received,
        at time: WallTime,
        topic: String? = nil
    ) -> Record {
        lastSequence += 1
        headSequence = lastSequence
        let record = Record(
            sequence: headSequence,
            connection: connection,
            direction: direction,
            time: time,
            topic: topic,
            payload: payload
        )
        change(Int(connection.number)) { $0.append(record) }
        return record
    }

    /// Changes what is kept of a connection, and keeps count of it.
    mutating func change(_ index: Int, _ body: (inout History) -> Void) {
        let before = histories[index].memoryBytes
        body(&histories[index])
        memoryBytes += histories[index].memoryBytes - before
    }
}
