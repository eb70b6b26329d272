import BridgeCore
import WebSocketProtocol
import WebSocketTestSupport

/// A log over a disk that now and then cannot be written, and its readers, who know what they are due.
///
/// Beside them stands a list of everything that was ever shown. Now and then the process ends.
struct StoredRun {
    struct Entry {
        var sequence: UInt64
        var ordinal: UInt64
        var connection: Int
        var bytes: Int
        var time: Int64
        var isStored: Bool
        var isInMemory = true
        /// Since the process last began; otherwise nobody may know how many were lost.
        var isRecent = true
        /// Nobody but those who saw it knows of it, and its ordinal was given again.
        var isForgotten = false
    }

    struct Batch {
        var records: [StagedRecord]
        var isStored: Bool
    }

    struct Reader {
        var connections: [Int]
        var cursor: LogCursor
        var seen: UInt64
        /// Sequences of what was neither delivered nor announced.
        var due: [UInt64]
        /// A gap may not know how many were lost.
        var mayNotKnow = false
        /// A gap must come first.
        var isAfterForeignID = false
        var wanted: Int?
        /// A gap may count what went before it had found its place.
        var mayCountMore = false
        var isFromTime = false
        /// Of these it begins with whatever is the oldest when the disk is read.
        var takesOldest: Set<Int> = []
        /// The disk was asked, and has answered.
        var answer: StoreAnswer?
        /// Lost records that gaps told of, and were to tell of.
        var announced = 0
        var lost = 0
    }

    var complaints: [String] = []
    var countedGaps = 0
    var uncountedGaps = 0
    var log: EventLog
    var disk: DiskDouble
    var indices: [ConnectionIndex] = []
    let limits: [Int]
    let history: HistoryLimits
    var entries: [Entry] = []
    /// Where each sequence stands among them.
    var places: [UInt64: Int] = [:]
    var readers: [Reader] = []
    var batches: [Batch] = []
    var owed: Set<ConnectionIndex> = []
    var isFailing = false
    var trims: [StoredTrim] = []
    /// How many of each connection the log knows to be trimmed.
    var knownTrims: [UInt64] = [0, 0, 0]
    var random: SeededGenerator
    var now: Int64 = 0

    /// Now and then a part of the disk is damaged.
    let damages: Bool

    init(seed: UInt64, damages: Bool = false) {
        self.damages = damages
        random = SeededGenerator(seed: seed)
        var epochs = SeededGenerator(seed: 1)
        let epoch = Epoch(startedAt: WallTime(millisecondsSince1970: 0), random: &epochs)
        disk = DiskDouble(["a", "b", "c"], epoch: epoch)
        let sizes = [1, 3, 10, 40, 1000]
        limits = (0..<3).map { [random] _ in
            var random = random
            return sizes.randomElement(using: &random) ?? 1
        }
        let inMemory = [1, 4, 20, 1000].randomElement(using: &random) ?? 1
        history = HistoryLimits(maxMessages: inMemory)
        log = EventLog(restoring: disk.reopen(isClean: true))
        register(disk.reopen(isClean: true))
    }

    mutating func register(_ recovery: StoreRecovery) {
        log = EventLog(restoring: recovery)
        indices = recovery.connections.compactMap { connection in
            log.register(connection.name, limits: history, as: connection)
        }
    }

    mutating func step() {
        switch Int.random(in: 0..<40, using: &random) {
        case 0..<12: stage()
        case 12..<18: settle()
        case 18: isFailing.toggle()
        case 19: tellTrims()
        case 20: forget()
        case 21: restart()
        case 22 where damages: damage()
        case 22..<26: join()
        default: readSome()
        }
    }

    // MARK: Recording

    mutating func stage() {
        var batch = Batch(records: [], isStored: !isFailing)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            now += Int64.random(in: 0...3, using: &random)
            let bytes = Int.random(in: 0..<20, using: &random)
            let connection = Int.random(in: 0..<3, using: &random)
            let record = log.stage(
                .message(Message(.text, [UInt8](repeating: 120, count: bytes))),
                of: indices[connection],
                at: WallTime(millisecondsSince1970: now)
            )
            if let record { batch.records.append(record) }
        }
        if batch.isStored {
            noteOwed()
            disk.store(batch.records.map(\.stored))
            for (id, limit) in zip(disk.ids, limits) {
                trims += disk.trim(id, to: limit, atMost: .random(in: 1...30, using: &random))
            }
        }
        batches.append(batch)
    }

    /// Shows what was offered first.
    mutating func settle() {
        guard !batches.isEmpty else { return }
        let batch = batches.removeFirst()
        for staged in batch.records {
            log.publish(staged, isStored: batch.isStored)
            show(staged)
            if !batch.isStored { owed.insert(staged.record.connection) }
        }
        if batches.isEmpty, Bool.random(using: &random) { tellTrims() }
    }

    mutating func show(_ staged: StagedRecord) {
        let connection = indices.firstIndex(of: staged.record.connection) ?? 0
        places[staged.record.sequence] = entries.count
        entries.append(
            Entry(
                sequence: staged.record.sequence,
                ordinal: staged.stored.ordinal,
                connection: connection,
                bytes: staged.record.byteCount,
                time: staged.record.time.millisecondsSince1970,
                isStored: disk.wasStored(staged.record.sequence)
            )
        )
        let inMemory = entries.indices.filter {
            entries[$0].connection == connection && entries[$0].isInMemory
        }
        for index in inMemory.dropLast(history.maxMessages) { entries[index].isInMemory = false }
        for index in readers.indices where readers[index].connections.contains(connection) {
            readers[index].due.append(staged.record.sequence)
        }
    }

    mutating func tellTrims() {
        // What was trimmed is told of once it was shown.
        guard batches.isEmpty else { return }
        log.take(disk.histories, trims)
        for trim in trims {
            let connection = Int(trim.connection.number - 1)
            knownTrims[connection] = trim.ordinals.upperBound
            for index in entries.indices where entries[index].connection == connection {
                if entries[index].ordinal < trim.ordinals.upperBound { entries[index].isInMemory = false }
            }
        }
        trims = []
    }

    mutating func noteOwed() {
        for connection in owed { if let fact = log.unstored(connection) { disk.note(fact) } }
        owed = []
    }

    /// Memory is short.
    mutating func forget() {
        log.shrink(to: 0)
        for index in entries.indices { entries[index].isInMemory = false }
    }

    mutating func damage() {
        let first = Int.random(in: 0...disk.rows.count, using: &random)
        disk.damage(first..<first + .random(in: 1...9, using: &random))
        for index in readers.indices { readers[index].mayNotKnow = true }
    }

    mutating func restart() {
        let isClean = Bool.random(using: &random)
        if isClean {
            while !batches.isEmpty { settle() }
            noteOwed()
        } else {
            // What is stored is there, though nobody has seen it; and what is not may count.
            for staged in batches.flatMap(\.records) { show(staged) }
            // Of what was shown since, the store has never heard.
            for index in entries.indices {
                let history = disk.histories[disk.ids[entries[index].connection]]
                entries[index].isForgotten =
                    entries[index].isForgotten || entries[index].ordinal >= history?.recorded ?? 0
            }
        }
        let recovery = disk.reopen(isClean: isClean)
        (batches, owed, trims, isFailing) = ([], [], [], false)
        for index in entries.indices {
            entries[index].isInMemory = false
            entries[index].isRecent = false
        }
        knownTrims = recovery.connections.map(\.history.trimmed)
        register(recovery)
        for index in readers.indices {
            comeBack(index)
        }
    }
}
