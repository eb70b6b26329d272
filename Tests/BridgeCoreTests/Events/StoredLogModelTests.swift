import BridgeCore
import Testing
import WebSocketProtocol
import WebSocketTestSupport

@Suite struct `The event log over a store against a naive model` {
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `every record comes once and in order, or is announced as lost once`(seed: UInt64) throws {
        var run = StoredRun(seed: seed)
        for _ in 0..<300 { run.step() }
        run.readAllToTheEnd()
        #expect(run.complaints.prefix(3) == [], "seed \(seed)")
    }

    @Test func `trace one`() {
        var failing = 0
        for seed in [10, 31, 65, 88, 128, 134, 146, 153, 162, 14] as [UInt64] {
            var run = StoredRun(seed: seed)
            for _ in 0..<300 where run.complaints.isEmpty { run.step() }
            if run.complaints.isEmpty { run.readAllToTheEnd() }
            if !run.complaints.isEmpty {
                print("SEED", seed)
                for line in run.trace { print("T", line) }
                failing += 1
                if failing == 30 { return }
            }
        }
    }

    @Test func `losses are counted nearly always`() {
        var (counted, uncounted) = (0, 0)
        for seed in 0..<40 as Range<UInt64> {
            var run = StoredRun(seed: seed)
            for _ in 0..<400 { run.step() }
            run.readAllToTheEnd()
            counted += run.countedGaps
            uncounted += run.uncountedGaps
        }
        #expect(counted > 500)
        #expect(counted > 2 * uncounted)
    }
}

/// A log over a disk that now and then cannot be written, a list of everything that was ever shown, and readers that know
/// what they are due. Now and then the process ends.
private struct StoredRun {
    private struct Entry {
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

    private struct Batch {
        var records: [StagedRecord]
        var isStored: Bool
    }

    private struct Reader {
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
        var question: StoreQuestion?
        /// Lost records that gaps told of, and were to tell of.
        var announced = 0
        var lost = 0
    }

    private(set) var complaints: [String] = []
    private(set) var countedGaps = 0
    private(set) var uncountedGaps = 0
    private var log: EventLog
    private var disk: DiskDouble
    private var indices: [ConnectionIndex] = []
    private let limits: [Int]
    private let history: HistoryLimits
    private var entries: [Entry] = []
    /// Where each sequence stands among them.
    private var places: [UInt64: Int] = [:]
    private var readers: [Reader] = []
    private var batches: [Batch] = []
    private var owed: Set<ConnectionIndex> = []
    private var isFailing = false
    private var trims: [StoredTrim] = []
    /// How many of each connection the log knows to be trimmed.
    private var knownTrims: [UInt64] = [0, 0, 0]
    private var random: SeededGenerator
    private var now: Int64 = 0

    init(seed: UInt64) {
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

    private mutating func register(_ recovery: StoreRecovery) {
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
        case 22..<26: join()
        default: readSome()
        }
    }

    // MARK: Recording

    private mutating func stage() {
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
    private mutating func settle() {
        guard !batches.isEmpty else { return }
        let batch = batches.removeFirst()
        for staged in batch.records {
            log.publish(staged, isStored: batch.isStored)
            show(staged)
            if !batch.isStored { owed.insert(staged.record.connection) }
        }
        if batches.isEmpty, Bool.random(using: &random) { tellTrims() }
    }

    private mutating func show(_ staged: StagedRecord) {
        let connection = indices.firstIndex(of: staged.record.connection) ?? 0
        places[staged.record.sequence] = entries.count
        trace.append("show \(staged.record.sequence) of \(connection) ordinal \(staged.stored.ordinal) stored \(disk.sequences.contains(staged.record.sequence))")
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

    private mutating func tellTrims() {
        // What was trimmed is told of once it was shown.
        guard batches.isEmpty else { return }
        trace.append("trims \(trims)")
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

    private mutating func noteOwed() {
        for connection in owed { if let fact = log.unstored(connection) { disk.note(fact) } }
        owed = []
    }

    /// Memory is short.
    private mutating func forget() {
        trace.append("forget")
        log.shrink(to: 0)
        for index in entries.indices { entries[index].isInMemory = false }
    }

    private mutating func restart() {
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
        trace.append("restart \(isClean) \(disk.head)")
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

    // MARK: Reading

    private func isKept(_ entry: Entry) -> Bool {
        entry.isInMemory || disk.sequences.contains(entry.sequence)
    }

    /// Whether the log has to ask the disk for what is the oldest of a connection.
    private func isOnDisk(_ connection: Int) -> Bool {
        let newest = entries.last { $0.connection == connection && !$0.isInMemory }
        return newest.map { $0.ordinal >= knownTrims[connection] } ?? false
    }

    private func entry(_ sequence: UInt64) -> Entry? { places[sequence].map { entries[$0] } }

    private func isKept(_ sequence: UInt64) -> Bool { entry(sequence).map(isKept) ?? false }

    private func selection(_ connections: [Int]) -> ConnectionSelection {
        ConnectionSelection(connections.map { indices[$0] })
    }

    private func sequences(_ connections: [Int], after sequence: UInt64 = 0) -> [UInt64] {
        entries.filter { entry in
            !entry.isForgotten && entry.sequence > sequence && connections.contains(entry.connection)
        }
        .map(\.sequence)
    }

    private mutating func join() {
        let selections = [[0], [1], [2], [0, 1], [0, 1, 2]]
        let connections = selections.randomElement(using: &random) ?? [0]
        let kept = sequences(connections).filter(isKept)
        // With what could not be stored, and stood behind the oldest.
        let all = connections.flatMap { connection in
            let mine = sequences([connection])
            return mine.firstIndex(where: isKept).map { Array(mine[$0...]) } ?? []
        }
        .sorted()
        var reader = Reader(
            connections: connections,
            cursor: log.cursor(at: .now, of: selection(connections)),
            seen: log.headSequence,
            due: []
        )
        let start: StartPosition
        switch Int.random(in: 0..<6, using: &random) {
        case 0: start = .now
        case 1:
            start = .start
            reader.due = all
        case 2:
            let count = Int.random(in: 0..<30, using: &random)
            start = .last(count)
            reader.due = kept.suffix(count)
            reader.wanted = count
        case 3:
            start = .after(log.id(log.headSequence + .random(in: 1...9, using: &random)))
            reader.due = all
            (reader.isAfterForeignID, reader.mayNotKnow) = (true, true)
        case 4:
            let time = Int64.random(in: 0...now + 2, using: &random)
            start = .since(WallTime(millisecondsSince1970: time))
            let first = kept.first { (entry($0)?.time ?? 0) >= time } ?? .max
            reader.due = sequences(connections).filter { $0 >= first }
            (reader.isFromTime, reader.mayNotKnow) = (true, true)
        default:
            let seen = entries.randomElement(using: &random)?.sequence ?? 0
            begin(&reader, after: seen)
            readers.append(reader)
            return
        }
        reader.cursor = log.cursor(at: start, of: selection(connections))
        reader.seen = reader.cursor.position
        if start == .start || reader.isAfterForeignID {
            reader.takesOldest = Set(connections.filter(isOnDisk))
        }
        readers.append(reader)
        trace.append("reader \(readers.count - 1) joins \(start) \(reader.cursor) due \(reader.due)")
    }

    /// Has a reader begin with an id.
    private mutating func begin(_ reader: inout Reader, after seen: UInt64) {
        reader.cursor = log.cursor(at: .after(log.id(seen)), of: selection(reader.connections))
        (reader.seen, reader.answer, reader.question) = (seen, nil, nil)
        (reader.wanted, reader.isFromTime, reader.takesOldest) = (nil, false, [])
        reader.due = sequences(reader.connections, after: seen)
        reader.announced = 0
        reader.lost = 0
        trace.append("reader begins after \(seen) of \(reader.connections) \(reader.cursor) due \(reader.due)")
        reader.isAfterForeignID = false
        // How many were lost may not be known of those before the last start, and around what could not be stored.
        let lost = reader.due.filter { !isKept($0) }
        let isSurelyKnown = lost.allSatisfy { sequence in
            guard let entry = entry(sequence), entry.isRecent else { return false }
            let history = disk.histories[disk.ids[entry.connection]]
            return sequence <= history?.trimmedThrough ?? 0 && trims.isEmpty
        }
        let isInHole = reader.connections.contains { connection in
            let mine = entries.filter { $0.connection == connection && !$0.isForgotten }
            guard let before = mine.last(where: { $0.sequence <= seen }), !before.isStored else { return false }
            let next = mine.first { $0.sequence > seen }
            return !before.isRecent || next.map { !$0.isStored && !isKept($0) } ?? false
        }
        reader.mayNotKnow = reader.mayNotKnow || !isSurelyKnown || isInHole
        reader.mayCountMore = false
        if disk.gaps.contains(where: { $0.sequences.lowerBound <= seen && seen < $0.sequences.upperBound }) {
            (reader.isAfterForeignID, reader.mayNotKnow) = (true, true)
        }
    }

    private mutating func comeBack(_ index: Int) {
        var reader = readers[index]
        begin(&reader, after: reader.seen)
        readers[index] = reader
    }

    private mutating func readSome() {
        guard let index = readers.indices.randomElement(using: &random) else { return }
        read(index)
        guard !readers[index].cursor.isSeeking, !readers[index].isAfterForeignID, Int.random(in: 0..<6, using: &random) == 0 else { return }
        comeBack(index)
    }

    mutating func readAllToTheEnd() {
        isFailing = false
        while !batches.isEmpty { settle() }
        tellTrims()
        for index in readers.indices {
            var turns = 0
            while log.hasMore(for: readers[index].cursor) || readers[index].cursor.isSeeking, turns < 10_000 {
                read(index)
                turns += 1
            }
            let reader = readers[index]
            let due = reader.due.filter(isKept)
            check(due.isEmpty, "reader \(index) never got \(due)")
            guard !reader.mayNotKnow, !reader.mayCountMore, reader.connections.count > 1 else { continue }
            let lost = reader.lost + reader.due.count
            check(lost == reader.announced, "\(lost) lost, \(reader.announced) announced")
        }
    }

    private mutating func read(_ index: Int) {
        var reader = readers[index]
        defer { readers[index] = reader }
        let room = Int.random(in: 1...12, using: &random)
        let bytes = Int.random(in: 1...99, using: &random)
        let filter = StreamFilter(connections: selection(reader.connections))
        if reader.answer == nil {
            let fresh = reader.takesOldest
            for connection in fresh {
                let mine = sequences([connection])
                let first = mine.first(where: isKept) ?? .max
                reader.due.removeAll { $0 < first && mine.contains($0) }
            }
        }
        if let answer = reader.answer {
            let isSeeking = reader.cursor.isSeeking
            trace.append("reader \(index) takes \(answer)")
            let entries = log.read(&reader.cursor, answer, by: filter)
            trace.append("  got \(entries.map { e in if case .record(let r) = e { "\(r.sequence)" } else if case .gap(let g) = e { "gap \(g.missed as Any) \(g.id.sequence)" } else { "" } }) cursor \(reader.cursor)")
            take(entries, of: &reader)
            reader.answer = nil
            if isSeeking, !reader.cursor.isSeeking { found(&reader) }
        } else if let question = log.question(for: reader.cursor, maxRecords: room, maxBytes: bytes) {
            // The answer may be taken much later.
            reader.answer = disk.answer(question)
            trace.append("reader \(index) asks \(question)")
            // Where it stands may be gone without that being known.
            if case .page(let request) = question, !request.starts.isEmpty, !trims.isEmpty {
                reader.mayNotKnow = true
            }
        } else if reader.cursor.isSeeking {
            var allowance = SearchAllowance(bytes: .random(in: 1...1000, using: &random))
            if log.goBack(&reader.cursor, by: filter, &allowance) { found(&reader) }
        } else {
            let page = log.read(&reader.cursor, maxRecords: room, maxBytes: bytes)
            trace.append("reader \(index) memory got \(page.map { e in if case .record(let r) = e { "\(r.sequence)" } else if case .gap(let g) = e { "gap \(g.missed as Any) \(g.id.sequence)" } else { "" } }) cursor \(reader.cursor)")
            take(page, of: &reader)
            let due = reader.due.filter(isKept)
            if page.isEmpty { check(due.isEmpty, "nothing, but \(due) is due") }
        }
    }

    /// Compares where a reader was found to begin with what it is due.
    private mutating func found(_ reader: inout Reader) {
        let begin = reader.cursor.position
        let still = reader.due.filter(isKept)
        check(still.first.map { $0 > begin } ?? true, "begins too late: at \(begin) instead of \(still)")
        if let wanted = reader.wanted {
            let before = sequences(reader.connections, after: begin).filter(isKept).count
            let since = sequences(reader.connections, after: reader.seen).count
            check(before <= wanted + since, "begins too early")
        }
        reader.due = sequences(reader.connections, after: begin)
        if reader.wanted != nil {
            // What went while it looked for its place is not lost.
            let all = reader.due.count
            for connection in reader.connections {
                let mine = sequences([connection], after: begin)
                let first = mine.first(where: isKept) ?? .max
                reader.due.removeAll { $0 < first && mine.contains($0) }
            }
            reader.mayCountMore = !trims.isEmpty || reader.due.count < all
        }
        reader.seen = begin
    }

    private mutating func take(_ page: [LogEntry], of reader: inout Reader) {
        for entry in page {
            switch entry {
            case .gap(let gap): take(gap, of: &reader)
            case .record(let record): take(record, of: &reader)
            }
        }
    }

    private mutating func take(_ record: Record, of reader: inout Reader) {
        check(!reader.isAfterForeignID, "no gap after a foreign id")
        check(reader.due.contains(record.sequence), "\(record.sequence) is not due: \(reader.due.prefix(9))")
        let passed = reader.due.filter { $0 < record.sequence }
        check(passed.allSatisfy { !isKept($0) }, "passed over \(passed.filter(isKept))")
        if reader.connections.count == 1 { check(passed.isEmpty, "nothing said of \(passed)") }
        if let entry = entry(record.sequence) { reader.takesOldest.remove(entry.connection) }
        reader.lost += passed.count
        reader.due = reader.due.filter { $0 > record.sequence }
        reader.seen = record.sequence
    }

    private mutating func take(_ gap: Gap, of reader: inout Reader) {
        if gap.missed == nil { uncountedGaps += 1 } else { countedGaps += 1 }
        check(gap.missed != nil || reader.mayNotKnow, "not counted: \(gap)")
        let limit = gap.oldest?.sequence ?? .max
        let lost = reader.due.filter { $0 < limit }
        check(lost.allSatisfy { !isKept($0) }, "announced as lost: \(lost.filter(isKept))")
        check(gap.id.sequence < limit, "beyond the next record: \(gap)")
        if let missed = gap.missed {
            if reader.connections.count == 1 {
                check(
                    missed == UInt64(lost.count) || reader.mayCountMore && missed > UInt64(lost.count),
                    "missed \(lost.count): \(gap)"
                )
                check(gap.id.sequence >= lost.last ?? 0, "a wrong id: \(gap)")
            }
            reader.announced += Int(missed)
        }
        if reader.connections.count == 1 || gap.missed == nil { reader.due.removeAll { $0 < limit } }
        if gap.missed == nil { reader.mayNotKnow = true }
        reader.seen = max(reader.seen, gap.id.sequence)
        reader.isAfterForeignID = false
    }

    var trace: [String] = []
    private mutating func check(_ isRight: Bool, _ complaint: String) {
        if !isRight { complaints.append("at \(entries.count): \(complaint)") }
        if !isRight { trace.append("COMPLAINT \(complaint)") }
    }
}
