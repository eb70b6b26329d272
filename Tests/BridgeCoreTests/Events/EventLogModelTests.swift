import BridgeCore
import Testing
import WebSocketProtocol
import WebSocketTestSupport

@Suite struct `The event log against a naive model` {
    @Test(arguments: 0..<150 as Range<UInt64>)
    func `every record comes once and in order, or is announced as lost once`(seed: UInt64) throws {
        var run = ModelRun(seed: seed)
        for _ in 0..<400 { run.step() }
        run.readAllToTheEnd()
        #expect(run.complaints == [], "seed \(seed)")
    }
}

/// A log, a list of everything that was ever recorded, and readers that know what they are due.
private struct ModelRun {
    private struct Entry {
        var sequence: UInt64
        var connection: Int
        var bytes: Int
        var time: Int64
        var isKept = true
    }

    private struct Reader {
        var connections: [Int]
        var cursor: LogCursor
        var seen: UInt64
        /// Indices into `entries` of what was neither delivered nor announced.
        var due: [Int]
        /// Whether a gap of unknown size must come first.
        var isAfterForeignID = false
        /// How many records it wanted to begin with at most, and how many there were then.
        var wanted = (most: 0, of: 0)
    }

    private(set) var complaints: [String] = []
    private var fixture: LogFixture
    private let limits: [HistoryLimits]
    private var entries: [Entry] = []
    private var readers: [Reader] = []
    private var random: SeededGenerator
    private var now: Int64 = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let counts = [1, 2, 5, 17, 60]
        let sizes = [10, 100, 400]
        let ages: [Duration?] = [nil, .milliseconds(30), .milliseconds(300)]
        func limit(_ random: inout SeededGenerator) -> HistoryLimits {
            HistoryLimits(
                maxMessages: counts.randomElement(using: &random) ?? 1,
                maxBytes: sizes.randomElement(using: &random) ?? 1,
                maxAge: ages.randomElement(using: &random) ?? nil
            )
        }
        limits = [limit(&random), limit(&random), limit(&random)]
        fixture = LogFixture(limits[0], limits[1], limits[2])
    }

    mutating func step() {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<6: record()
        case 6: passTime()
        case 7: join()
        default: readSome()
        }
    }

    mutating func readAllToTheEnd() {
        for index in readers.indices {
            while readers[index].cursor.position < fixture.log.headSequence
                || readers[index].isAfterForeignID || readers[index].cursor.isSeeking
            {
                read(index)
            }
            check(readers[index].due.isEmpty, "reader \(index) never got \(readers[index].due.count) records")
        }
    }

    private mutating func record() {
        let connection = Int.random(in: 0..<3, using: &random)
        let bytes = Int.random(in: 0..<20, using: &random)
        now += Int64.random(in: 0...3, using: &random)
        fixture.record(on: connection, bytes: bytes, at: now)
        entries.append(
            Entry(sequence: UInt64(entries.count + 1), connection: connection, bytes: bytes, time: now)
        )
        for index in readers.indices where readers[index].connections.contains(connection) {
            readers[index].due.append(entries.count - 1)
        }
        evict(connection)
    }

    private mutating func passTime() {
        now += Int64.random(in: 0...20, using: &random)
        fixture.log.expire(at: WallTime(millisecondsSince1970: now))
        for connection in 0..<3 { evict(connection) }
    }

    private mutating func evict(_ connection: Int) {
        var count = 0
        var bytes = 0
        for index in entries.indices.reversed() where entries[index].connection == connection {
            count += 1
            bytes += entries[index].bytes
            let isTooOld =
                limits[connection].maxAge.map { now - entries[index].time > $0.milliseconds } ?? false
            if count > limits[connection].maxMessages || bytes > limits[connection].maxBytes || isTooOld {
                entries[index].isKept = false
            }
        }
    }

    private mutating func join() {
        let selections = [[0], [1], [2], [0, 1], [0, 1, 2]]
        let connections = selections.randomElement(using: &random) ?? [0]
        let mine = entries.indices.filter { connections.contains(entries[$0].connection) }
        let kept = mine.filter { entries[$0].isKept }
        let start: StartPosition
        let due: [Int]
        var isAfterForeignID = false
        var wanted = 0
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            start = .now
            due = []
        case 1:
            start = .start
            due = kept
        case 2:
            let count = Int.random(in: 0..<30, using: &random)
            start = .last(count)
            due = kept.suffix(count)
            wanted = count
        case 3:
            start = .after(fixture.log.id(fixture.log.headSequence + .random(in: 1...9, using: &random)))
            due = kept.first.map { first in mine.filter { $0 >= first } } ?? []
            isAfterForeignID = true
        default:
            let seen = UInt64.random(in: 0...fixture.log.headSequence, using: &random)
            start = .after(fixture.log.id(seen))
            due = mine.filter { entries[$0].sequence > seen }
        }
        let selection = ConnectionSelection(connections.map { fixture.connections[$0] })
        let cursor = fixture.log.cursor(at: start, of: selection)
        readers.append(
            Reader(
                connections: connections,
                cursor: cursor,
                seen: cursor.position,
                due: due,
                isAfterForeignID: isAfterForeignID,
                wanted: (wanted, entries.count)
            )
        )
    }

    private mutating func readSome() {
        guard let index = readers.indices.randomElement(using: &random) else { return }
        read(index)
        guard !readers[index].cursor.isSeeking else { return }
        if Int.random(in: 0..<4, using: &random) == 0 { comeBack(index) }
    }

    /// Looks on for where a reader begins, and compares that with what it is due, once it is found.
    private mutating func seek(_ reader: inout Reader) {
        let connections = reader.connections.map { fixture.connections[$0] }
        let filter = StreamFilter(connections: ConnectionSelection(connections))
        var allowance = SearchAllowance(bytes: .random(in: 1...1000, using: &random))
        guard fixture.log.goBack(&reader.cursor, by: filter, &allowance) else { return }
        let found = entries.indices.filter { index in
            entries[index].isKept && reader.connections.contains(entries[index].connection)
                && entries[index].sequence > reader.cursor.position
        }
        let still = reader.due.filter { entries[$0].isKept }
        check(Set(still).isSubset(of: found), "begins too late")
        check(found.filter { $0 < reader.wanted.of }.count <= reader.wanted.most, "begins too early")
        reader.due = found
        reader.seen = reader.cursor.position
    }

    /// Reads a page and compares it with what the reader is due, entry by entry.
    private mutating func read(_ index: Int) {
        var reader = readers[index]
        if reader.cursor.isSeeking {
            seek(&reader)
            readers[index] = reader
            return
        }
        let room = Int.random(in: 1...12, using: &random)
        let page = fixture.log.read(
            &reader.cursor,
            maxRecords: room,
            maxBytes: .random(in: 1...99, using: &random)
        )
        var records = 0
        for entry in page {
            switch entry {
            case .gap(let gap): checkGap(gap, of: &reader)
            case .record(let record): checkRecord(record, of: &reader)
            }
            if case .record = entry { records += 1 }
        }
        check(records <= room, "a page of \(records) where \(room) were asked for")
        check(
            !page.isEmpty || (reader.due.isEmpty && !reader.isAfterForeignID),
            "nothing, but something is due"
        )
        readers[index] = reader
    }

    private mutating func checkRecord(_ record: Record, of reader: inout Reader) {
        check(!reader.isAfterForeignID, "no gap after a foreign id")
        let isNext = reader.due.first.map { entries[$0].sequence == record.sequence && entries[$0].isKept }
        check(isNext ?? false, "got \(record.sequence) instead of what was due, or of a gap")
        reader.seen = record.sequence
        reader.due = Array(reader.due.drop { entries[$0].sequence <= record.sequence })
    }

    private mutating func checkGap(_ gap: Gap, of reader: inout Reader) {
        let lost = reader.due.prefix { !entries[$0].isKept }
        let rest = Array(reader.due.dropFirst(lost.count))
        check(!lost.isEmpty || reader.isAfterForeignID, "a gap without a loss")
        check(
            gap.missed == (reader.isAfterForeignID ? nil : UInt64(lost.count)),
            "missed \(lost.count): \(gap)"
        )
        check(gap.id.sequence == lost.last.map { entries[$0].sequence } ?? reader.seen, "a wrong id: \(gap)")
        check(gap.oldest == rest.first.map { fixture.log.id(entries[$0].sequence) }, "a wrong oldest: \(gap)")
        reader.seen = gap.id.sequence
        reader.due = rest
        reader.isAfterForeignID = false
    }

    /// Reconnects the reader with the last id that it got.
    private mutating func comeBack(_ index: Int) {
        var reader = readers[index]
        guard !reader.isAfterForeignID else { return }
        let selection = ConnectionSelection(reader.connections.map { fixture.connections[$0] })
        reader.cursor = fixture.log.cursor(at: .after(fixture.log.id(reader.seen)), of: selection)
        reader.due = entries.indices.filter {
            entries[$0].sequence > reader.seen && reader.connections.contains(entries[$0].connection)
        }
        readers[index] = reader
    }

    private mutating func check(_ isRight: Bool, _ complaint: String) {
        if !isRight { complaints.append("at \(entries.count): \(complaint)") }
    }
}
