/// A record that has its id and that nobody may see yet.
package struct StagedRecord: Sendable {
    package let record: Record
    /// As it is offered to the store.
    package let stored: StoredRecord
}

/// The log while there is a store: records are staged, offered to it, and published once they are committed.
extension EventLog {
    /// Goes on with what was stored.
    package init(restoring recovery: StoreRecovery) {
        self.init(epoch: recovery.epoch)
        isStored = true
        lastSequence = recovery.headSequence
        headSequence = recovery.headSequence
        gaps = recovery.gaps
        gapsThrough = recovery.gaps.map(\.sequences.upperBound).max() ?? 0
    }

    /// Makes room for a connection that is stored, or changes the limits of one that is there.
    package mutating func register(
        _ name: String,
        limits: HistoryLimits,
        as stored: StoredConnection
    ) -> ConnectionIndex? {
        let isThere = index(of: name) != nil
        guard let index = register(name, limits: limits) else { return nil }
        guard !isThere else { return index }
        let isNew = histories[Int(index.number)].endOrdinal == 0
        let skipped = gaps.map(\.sequences)
        change(Int(index.number)) { history in
            if isNew {
                history.restore(stored.history, as: stored.id, skipped: skipped)
            } else {
                history.store(as: stored.id)
            }
        }
        connections[stored.id] = index
        return index
    }

    /// Gives a record its id.
    package mutating func stage(
        _ payload: Record.Payload,
        of connection: ConnectionIndex,
        direction: Record.Direction = .received,
        at time: WallTime,
        topic: String? = nil
    ) -> StagedRecord? {
        guard let disk = histories[Int(connection.number)].disk else { return nil }
        lastSequence += 1
        let record = Record(
            sequence: lastSequence,
            connection: connection,
            direction: direction,
            time: time,
            topic: topic,
            payload: payload
        )
        let ordinal = histories[Int(connection.number)].endOrdinal + disk.staged
        histories[Int(connection.number)].disk?.staged += 1
        return StagedRecord(record: record, stored: StoredRecord(record, of: disk.id, ordinal: ordinal))
    }

    /// Lets a record be seen that was staged; they come in the order of their ids.
    package mutating func publish(_ staged: StagedRecord, isStored: Bool) {
        headSequence = staged.record.sequence
        change(Int(staged.record.connection.number)) { $0.publish(staged.record, isStored: isStored) }
    }

    /// Takes note of what the store keeps; what it tells of was published before.
    package mutating func take(_ histories: [StoredConnectionID: StoredHistory], _ trims: [StoredTrim]) {
        for trim in trims {
            guard let index = connections[trim.connection] else { continue }
            change(Int(index.number)) { $0.trimmed(trim) }
        }
        for (id, history) in histories {
            guard let index = connections[id] else { continue }
            change(Int(index.number)) { $0.take(history) }
        }
    }

    /// What the store is to know of a connection that was registered.
    package func registered(_ connection: ConnectionIndex) -> StoreFact? {
        let history = histories[Int(connection.number)]
        guard let disk = history.disk else { return nil }
        return .connection(disk.id, name: history.name, limits: history.limits, past: disk.kept)
    }

    /// What the store is to be told once it can be written again: what was shown of a connection and is not there.
    package func unstored(_ connection: ConnectionIndex) -> StoreFact? {
        let history = histories[Int(connection.number)]
        guard let disk = history.disk else { return nil }
        return .unstored(disk.id, through: headSequence, recorded: history.endOrdinal)
    }
}
