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
        case .ended(let numbers, of: let id, as: let state): try end(numbers, of: id, as: state)
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
        guard tallies.keys.contains(id) else { return }
        touch(id)
        var rest = messages[...]
        while let few = few(of: rest, behind: tallies[id]?.lastMessage ?? .max) {
            try add(few, of: id)
            rest = rest.dropFirst(few.count)
        }
        for message in rest {
            try statements.addMessage.run(
                id.number,
                Int64(clamping: message.number),
                message.queuedAt.millisecondsSince1970,
                message.message.kind.stored,
                blob: message.message.bytes
            )
        }
        if let last = messages.last { tallies[id]?.lastMessage = last.number }
        if let key { try add(key, of: id) }
    }

    /// The first so many messages, if they can be added by one statement: they are short, and none was ever there.
    private func few(of messages: ArraySlice<StoredMessage>, behind last: UInt64) -> ArraySlice<
        StoredMessage
    >? {
        let few = messages.prefix(StoreStatements.messagesAtOnce)
        guard few.count == StoreStatements.messagesAtOnce,
            few.allSatisfy({ $0.number > last && $0.message.bytes.count <= StoreSession.shortMessage })
        else { return nil }
        return few
    }

    /// Bytes of a message of which the statement keeps a copy.
    private static let shortMessage = 1024

    private func add(_ few: ArraySlice<StoredMessage>, of id: StoredConnectionID) throws(StorageError) {
        var place: CInt = 1
        for message in few {
            statements.addMessages.bind(id.number, at: place)
            statements.addMessages.bind(Int64(clamping: message.number), at: place + 1)
            statements.addMessages.bind(message.queuedAt.millisecondsSince1970, at: place + 2)
            statements.addMessages.bind(message.message.kind.stored, at: place + 3)
            statements.addMessages.bind(copyOf: message.message.bytes, at: place + 4)
            place += 5
        }
        try statements.addMessages.run()
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

    private func end(
        _ numbers: Range<UInt64>,
        of id: StoredConnectionID,
        as state: MessageState
    ) throws(StorageError) {
        guard let code = state.storedCode, tallies.keys.contains(id) else { return }
        touch(id)
        let (first, end) = (Int64(clamping: numbers.lowerBound), Int64(clamping: numbers.upperBound))
        let time = state.sentAt?.millisecondsSince1970
        try statements.addOutcomes.run(id.number, first, end, code, time)
        let count = database.changes
        guard count > 0 else { return }
        try statements.takeMessages.run(id.number, first, end)
        tallies[id]?.outcomes += count
    }

    /// Forgets what became of the oldest messages where more is known than is kept.
    func trimOutcomes(of id: StoredConnectionID) throws(StorageError) {
        let tooMany = (tallies[id]?.outcomes ?? 0) - MessageJournal.limit
        guard tooMany > 0 else { return }
        statements.oldestOutcomes.begin(id.number, Int64(tooMany))
        let first = try statements.oldestOutcomes.next() ? statements.oldestOutcomes.integer(0) : .max
        statements.oldestOutcomes.end()
        try statements.trimOutcomes.run(id.number, first)
        tallies[id]?.outcomes -= database.changes
    }

    private func withdraw(
        _ numbers: Range<UInt64>,
        of id: StoredConnectionID,
        _ key: String?
    ) throws(StorageError) {
        guard tallies.keys.contains(id) else { return }
        touch(id)
        let (first, end) = (Int64(clamping: numbers.lowerBound), Int64(clamping: numbers.upperBound))
        try statements.takeMessages.run(id.number, first, end)
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

extension Message.Kind {
    fileprivate var stored: Int64 {
        switch self {
        case .text: 0
        case .binary: 1
        }
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
