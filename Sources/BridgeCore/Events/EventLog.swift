/// The bridge's memory of what happened: one sequence over all connections, a bounded history for each.
///
/// A value for one thread. Nothing that it forgets is forgotten silently: readers get a `Gap`.
package struct EventLog {
    package let epoch: Epoch
    /// The sequence of the newest record, kept or not; 0 before the first.
    package private(set) var headSequence: UInt64 = 0
    /// In the order of their indices; the slot of a removed connection stays, to know what was lost.
    var histories: [History] = []
    private var indices: [String: ConnectionIndex] = [:]
    private var removed: Set<ConnectionIndex> = []

    package init(epoch: Epoch) {
        self.epoch = epoch
    }

    /// The id of the newest record, which is where a live reader starts.
    package var head: EventID { id(headSequence) }

    package func id(_ sequence: UInt64) -> EventID {
        EventID(epoch: epoch, sequence: sequence)
    }

    /// Makes room for a connection, or changes the limits of one that is there.
    ///
    /// A removed connection that comes back gets its old index, so that readers from before learn of their
    /// loss. Nil when 65,536 names have been used.
    package mutating func register(_ name: String, limits: HistoryLimits) -> ConnectionIndex? {
        if let index = indices[name] {
            removed.remove(index)
            histories[Int(index.number)].limits = limits
            histories[Int(index.number)].enforceSize()
            return index
        }
        guard let number = UInt16(exactly: histories.count) else { return nil }
        let index = ConnectionIndex(number: number)
        histories.append(History(name: name, limits: limits))
        indices[name] = index
        return index
    }

    /// Forgets a connection and all its records; readers that had not seen them all get a gap.
    package mutating func remove(_ connection: ConnectionIndex) {
        removed.insert(connection)
        histories[Int(connection.number)].evictAll()
    }

    /// Nil when no connection has this name.
    package func index(of name: String) -> ConnectionIndex? {
        indices[name].flatMap { removed.contains($0) ? nil : $0 }
    }

    /// Those that there are and whose names are wanted.
    package func connections(where isWanted: (String) -> Bool) -> [ConnectionIndex] {
        indices.filter { !removed.contains($0.value) && isWanted($0.key) }.map(\.value)
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
        return HistoryStatus(
            messages: history.records.count,
            bytes: history.byteCount,
            oldest: history.records.first.map { id($0.sequence) },
            newest: history.records.last.map { id($0.sequence) }
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
        headSequence += 1
        let record = Record(
            sequence: headSequence,
            connection: connection,
            direction: direction,
            time: time,
            topic: topic,
            payload: payload
        )
        histories[Int(connection.number)].append(record)
        return record
    }
}
