internal import BridgeCore
internal import WebSocketProtocol

/// Changes, within a transaction.
///
/// What makes no sense, such as a message of a connection that there is not, is passed over: an error would refuse
/// what others have offered, again and again.
extension StoreSession {
    func apply(_ offer: StoreOffer) throws(StorageError) {
        switch offer {
        case .record(let record): try add(record)
        case .messages(let messages, of: let id, let key): try add(messages, of: id, key)
        }
    }

    func apply(_ fact: StoreFact) throws(StorageError) {
        switch fact {
        case .connection(let id, let name, let limits, let past): try add(id, name, limits, past)
        case .removed(let id): try remove(id)
        case .ended(let number, of: let id, as: let state): try end(number, of: id, as: state)
        case .answered(let key, of: let id, let states):
            statements.answerKey.bind(states.text, at: 3)
            try statements.answerKey.run(text: key, id.number)
        case .withdrawn(let numbers, of: let id, let key): try withdraw(numbers, of: id, key)
        case .unstored(let id, let sequence, let recorded):
            try skip(id, through: sequence, recorded: recorded)
        }
    }

    // MARK: Records

    private func add(_ record: StoredRecord) throws(StorageError) {
        guard record.sequence > head else { return }
        // It is shown, be its connection removed.
        head = record.sequence
        guard tallies[record.connection] != nil else {
            let time = record.time.millisecondsSince1970
            return try pass(record.connection, record.sequence, recorded: record.ordinal + 1, time)
        }
        touch(record.connection)
        try statements.addRecord.run(
            text: record.topic,
            Int64(clamping: record.sequence),
            record.connection.number,
            Int64(clamping: record.ordinal),
            record.time.millisecondsSince1970,
            record.kind.rawValue,
            blob: record.payload
        )
        tallies[record.connection]?.history.added(record)
    }

    /// What was shown of a connection and is not stored counts among its records, and no sequence comes again.
    private func skip(
        _ id: StoredConnectionID,
        through sequence: UInt64,
        recorded: UInt64
    ) throws(StorageError) {
        head = max(head, sequence)
        guard tallies[id] != nil else { return try pass(id, sequence, recorded: recorded, nil) }
        touch(id)
        tallies[id]?.history.skipped(through: sequence, recorded: recorded)
    }

    func add(_ gap: StoredGap) throws(StorageError) {
        willChangeGaps()
        let next = (gaps.last?.id ?? 0) + 1
        head = max(head, gap.sequences.upperBound)
        if gaps.count >= StoreSession.mostGaps {
            let (first, second) = (gaps.removeFirst(), gaps.removeFirst())
            let joined = first.gap + second.gap
            try statements.deleteGap.run(first.id)
            try statements.deleteGap.run(second.id)
            gaps.insert((second.id, joined), at: 0)
            try insert(joined, as: second.id)
        }
        gaps.append((next, gap))
        try insert(gap, as: next)
    }

    private func insert(_ gap: StoredGap, as id: Int64) throws(StorageError) {
        try statements.addGap.run(
            id,
            Int64(clamping: gap.sequences.lowerBound),
            Int64(clamping: gap.sequences.upperBound),
            gap.cause.rawValue
        )
    }

    // MARK: Messages

    private func add(
        _ messages: [StoredMessage],
        of id: StoredConnectionID,
        _ key: StoredKey?
    ) throws(StorageError) {
        guard tallies[id] != nil else { return }
        touch(id)
        for message in messages {
            try statements.addMessage.run(
                id.number,
                Int64(clamping: message.number),
                message.queuedAt.millisecondsSince1970,
                message.message.kind == .text ? 0 : 1,
                blob: message.message.bytes
            )
            tallies[id]?.lastMessage = message.number
        }
        if let key { try add(key, of: id) }
    }

    private func add(_ key: StoredKey, of id: StoredConnectionID) throws(StorageError) {
        // One that was used before is forgotten by now, or it would not come again.
        try delete(key.key, of: id)
        guard var tally = tallies[id] else { return }
        tally.lastKey += 1
        tally.keys += 1
        try statements.addKey.run(
            text: key.key,
            id.number,
            tally.lastKey,
            key.firstUse.millisecondsSince1970,
            Int64(clamping: key.firstMessage),
            Int64(key.count),
            blob: key.fingerprint
        )
        let tooMany = tally.keys - IdempotencyLedger.maxKeys
        if tooMany > 0 {
            try statements.trimKeys.run(id.number, Int64(tooMany))
            tally.keys -= database.changes
        }
        let oldest = key.firstUse - IdempotencyLedger.lifetime
        try statements.expireKeys.run(id.number, oldest.millisecondsSince1970, StoreSession.keysAtOnce)
        tally.keys -= database.changes
        tallies[id] = tally
    }

    /// Keys that are looked at for their age when one is added.
    private static let keysAtOnce: Int64 = 8

    private func delete(_ key: String, of id: StoredConnectionID) throws(StorageError) {
        try statements.deleteKey.run(text: key, id.number)
        tallies[id]?.keys -= database.changes
    }

    private func end(_ number: UInt64, of id: StoredConnectionID, as state: MessageState) throws(StorageError)
    {
        guard let code = state.storedCode, tallies[id] != nil else { return }
        touch(id)
        let number = Int64(clamping: number)
        try statements.addOutcome.run(id.number, number, code, state.sentAt?.millisecondsSince1970)
        guard database.changes > 0 else { return }
        try statements.endMessage.run(id.number, number)
        tallies[id]?.outcomes += 1
        guard let tooMany = tallies[id].map({ $0.outcomes - MessageJournal.limit }), tooMany > 0 else {
            return
        }
        try statements.trimOutcomes.run(id.number, Int64(tooMany))
        tallies[id]?.outcomes -= database.changes
    }

    private func withdraw(
        _ numbers: Range<UInt64>,
        of id: StoredConnectionID,
        _ key: String?
    ) throws(StorageError) {
        guard tallies[id] != nil else { return }
        touch(id)
        let (first, end) = (Int64(clamping: numbers.lowerBound), Int64(clamping: numbers.upperBound))
        try statements.withdrawMessages.run(id.number, first, end)
        try statements.withdrawOutcomes.run(id.number, first, end)
        tallies[id]?.outcomes -= database.changes
        if let key { try delete(key, of: id) }
    }
}

extension StoredHistory {
    fileprivate mutating func added(_ record: StoredRecord) {
        if records == 0 { oldest = record.sequence }
        if record.ordinal > recorded {
            (skipped, skippedThrough) = (record.ordinal, record.sequence - 1)
        }
        records += 1
        bytes += record.payload.count
        recorded = record.ordinal + 1
        newest = record.sequence
    }

    fileprivate mutating func skipped(through sequence: UInt64, recorded count: UInt64) {
        guard count > recorded else { return }
        recorded = count
        newest = max(newest, sequence)
        (skipped, skippedThrough) = (count, sequence)
    }
}

extension MessageState {
    /// What stands for it in the file; nil for what has no outcome.
    var storedCode: Int64? {
        switch self {
        case .queued: nil
        case .sent: 1
        case .expired: 2
        case .dropped: 3
        }
    }

    init?(storedCode: Int64, sentAt: WallTime) {
        switch storedCode {
        case 1: self = .sent(at: sentAt)
        case 2: self = .expired
        case 3: self = .dropped
        default: return nil
        }
    }
}
