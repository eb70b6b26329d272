import BridgeCore
import WebSocketTestSupport

/// What readers get, compared with what they are due.
extension StoredRun {
    mutating func readSome() {
        guard let index = readers.indices.randomElement(using: &random) else { return }
        read(index)
        guard !readers[index].cursor.isSeeking, !readers[index].isAfterForeignID,
            Int.random(in: 0..<6, using: &random) == 0
        else { return }
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

    mutating func read(_ index: Int) {
        var reader = readers[index]
        defer { readers[index] = reader }
        let room = Int.random(in: 1...12, using: &random)
        let bytes = Int.random(in: 1...99, using: &random)
        let filter = StreamFilter(connections: selection(reader.connections))
        if reader.answer == nil {
            let fresh = reader.takesOldest
            for connection in fresh {
                let mine = sequences([connection])
                let first = mine.first(where: isThere) ?? .max
                reader.due.removeAll { $0 < first && mine.contains($0) }
            }
        }
        if let answer = reader.answer {
            let isSeeking = reader.cursor.isSeeking
            let entries = log.read(&reader.cursor, answer, by: filter)
            take(entries, of: &reader)
            reader.answer = nil
            if isSeeking, !reader.cursor.isSeeking { found(&reader) }
        } else if let question = log.question(for: reader.cursor, maxRecords: room, maxBytes: bytes) {
            // The answer may be taken much later.
            reader.answer = disk.answer(question)
            // Where it stands may be gone without that being known.
            if case .page(let request) = question, !request.starts.isEmpty, !trims.isEmpty {
                reader.mayNotKnow = true
            }
        } else if reader.cursor.isSeeking {
            var allowance = SearchAllowance(bytes: .random(in: 1...1000, using: &random))
            if log.goBack(&reader.cursor, by: filter, &allowance) { found(&reader) }
        } else {
            let page = log.read(&reader.cursor, maxRecords: room, maxBytes: bytes)
            take(page, of: &reader)
            let due = reader.due.filter(isKept)
            if page.isEmpty { check(due.isEmpty, "nothing, but \(due) is due") }
        }
    }

    /// Compares where a reader was found to begin with what it is due.
    mutating func found(_ reader: inout Reader) {
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

    mutating func take(_ page: [LogEntry], of reader: inout Reader) {
        for entry in page {
            switch entry {
            case .gap(let gap): take(gap, of: &reader)
            case .record(let record): take(record, of: &reader)
            }
        }
    }

    mutating func take(_ record: Record, of reader: inout Reader) {
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

    mutating func take(_ gap: Gap, of reader: inout Reader) {
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

    mutating func check(_ isRight: Bool, _ complaint: String) {
        if !isRight { complaints.append("at \(entries.count): \(complaint)") }
    }
}
