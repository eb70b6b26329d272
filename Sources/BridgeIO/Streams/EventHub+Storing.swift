package import BridgeCore

/// Records that are on their way to the store.
///
/// What came in a turn is offered together at its end, and is shown when it is committed, so that nothing that anybody has
/// seen can be lost with the process. While the store cannot be written records are shown all the same; once it can, it
/// is told how many it does not have.
struct Staging {
    /// What was offered at one time.
    struct Batch {
        var records: [StagedRecord]
        var bytes: Int
        /// Nil: not known yet.
        var isStored: Bool?
    }

    /// Not offered yet.
    var records: [StagedRecord] = []
    var bytes = 0
    /// Offered, oldest first.
    var batches = Queue<Batch>()
    /// The number of the first of them, counted from the beginning.
    var firstBatch = 0
    /// Connections of which records were shown that the store does not have, nor knows of.
    var owed: Set<ConnectionIndex> = []
    /// What is to be done once records up to a sequence are shown, in order.
    var waiting = Queue<(sequence: UInt64, body: () -> Void)>()
}

extension EventHub {
    /// Has records stored from now on, behind those that were; before any connection is registered.
    package func keep(in store: any RecordStore, from recovery: StoreRecovery) {
        self.store = store
        log = EventLog(restoring: recovery)
    }

    func stage(
        _ payload: Record.Payload,
        of connection: ConnectionIndex,
        _ direction: Record.Direction,
        topic: String?
    ) {
        let record = log.stage(
            payload,
            of: connection,
            direction: direction,
            at: loop.wallTime,
            topic: topic
        )
        guard let record else { return }
        staging.records.append(record)
        staging.bytes += record.cost
        memory.staged += record.cost
    }

    /// Offers what has come to the store; to be called at the end of each turn.
    package func storeStaged() {
        guard let store, !staging.records.isEmpty else { return }
        let number = staging.firstBatch + staging.batches.count
        let offer = store.offer(records: staging.records.lazy.map(\.stored)) { [unowned self] isStored in
            settle(number, isStored)
        }
        guard offer != .later else { return }
        let batch = Staging.Batch(
            records: staging.records,
            bytes: staging.bytes,
            isStored: offer == .refused ? false : nil
        )
        (staging.records, staging.bytes) = ([], 0)
        staging.batches.append(batch)
        showSettled()
    }

    private func settle(_ number: Int, _ isStored: Bool) {
        staging.batches[number - staging.firstBatch].isStored = isStored
        showSettled()
    }

    /// Shows what has come to its end, in order.
    private func showSettled() {
        while let batch = staging.batches.first, let isStored = batch.isStored {
            staging.batches.popFirst()
            staging.firstBatch += 1
            memory.staged -= batch.bytes
            for staged in batch.records {
                log.publish(staged, isStored: isStored)
                if !isStored { staging.owed.insert(staged.record.connection) }
                show(staged.record)
            }
        }
        while let (sequence, body) = staging.waiting.first, sequence <= log.headSequence {
            staging.waiting.popFirst()
            body()
        }
    }

    /// Does something once all that has happened by now is shown, which it is at once where nothing is stored.
    package func whenShown(_ body: @escaping () -> Void) {
        let newest = staging.records.last ?? staging.batches.last?.records.last
        guard let newest else { return body() }
        staging.waiting.append((newest.record.sequence, body))
    }

    /// Takes note of what the store keeps.
    package func stored(_ histories: [StoredConnectionID: StoredHistory], _ trims: [StoredTrim]) {
        log.take(histories, trims)
        if !trims.isEmpty { dropOutrun() }
    }

    /// Tells the store what was shown without being stored; for when it can be written again, or is about to be closed.
    package func noteUnstored() {
        for connection in staging.owed { if let fact = log.unstored(connection) { store?.note(fact) } }
        staging.owed = []
    }
}

extension StagedRecord {
    /// What it takes of the process' memory.
    fileprivate var cost: Int { record.byteCount + Record.overhead }
}
