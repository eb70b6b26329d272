import BridgeCore
import WebSocketTestSupport

/// Readers that come, with what they are due.
extension StoredRun {
    /// Whether it can be read.
    func isKept(_ entry: Entry) -> Bool {
        entry.isInMemory
            || (disk.sequences.contains(entry.sequence) && !disk.hidden.contains(entry.sequence))
    }

    /// Whether it is kept, be it damaged.
    func isThere(_ sequence: UInt64) -> Bool {
        isKept(sequence) || disk.sequences.contains(sequence)
    }

    /// Whether the log has to ask the disk for what is the oldest of a connection.
    func isOnDisk(_ connection: Int) -> Bool {
        let newest = entries.last { $0.connection == connection && !$0.isInMemory }
        return newest.map { $0.ordinal >= knownTrims[connection] } ?? false
    }

    func entry(_ sequence: UInt64) -> Entry? { places[sequence].map { entries[$0] } }

    func isKept(_ sequence: UInt64) -> Bool { entry(sequence).map(isKept) ?? false }

    func selection(_ connections: [Int]) -> ConnectionSelection {
        ConnectionSelection(connections.map { indices[$0] })
    }

    func sequences(_ connections: [Int], after sequence: UInt64 = 0) -> [UInt64] {
        entries.filter { entry in
            !entry.isForgotten && entry.sequence > sequence && connections.contains(entry.connection)
        }
        .map(\.sequence)
    }

    mutating func join() {
        let selections = [[0], [1], [2], [0, 1], [0, 1, 2]]
        let connections = selections.randomElement(using: &random) ?? [0]
        let kept = sequences(connections).filter(isKept)
        // With what could not be stored, and stood behind the oldest.
        let all = connections.flatMap { connection in
            let mine = sequences([connection])
            return mine.firstIndex(where: isThere).map { Array(mine[$0...]) } ?? []
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
            let oldest = kept.first ?? .max
            reader.due = sequences(connections).filter { $0 >= oldest }
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
        if start == .start {
            reader.takesOldest = Set(connections.filter(isOnDisk))
        }
        reader.mayNotKnow = reader.mayNotKnow || !disk.hidden.isEmpty
        readers.append(reader)
    }

    /// Has a reader begin with an id.
    mutating func begin(_ reader: inout Reader, after seen: UInt64) {
        reader.cursor = log.cursor(at: .after(log.id(seen)), of: selection(reader.connections))
        (reader.seen, reader.answer) = (seen, nil)
        (reader.wanted, reader.isFromTime, reader.takesOldest) = (nil, false, [])
        reader.due = sequences(reader.connections, after: seen)
        reader.announced = 0
        reader.lost = 0
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
            guard let before = mine.last(where: { $0.sequence <= seen }), !before.isStored else {
                return false
            }
            let next = mine.first { $0.sequence > seen }
            return !before.isRecent || next.map { !$0.isStored && !isKept($0) } ?? false
        }
        reader.mayNotKnow = reader.mayNotKnow || !isSurelyKnown || isInHole || !disk.hidden.isEmpty
        reader.mayCountMore = false
        if disk.gaps.contains(where: { $0.sequences.lowerBound <= seen && seen < $0.sequences.upperBound }) {
            (reader.isAfterForeignID, reader.mayNotKnow) = (true, true)
        }
    }

    mutating func comeBack(_ index: Int) {
        var reader = readers[index]
        begin(&reader, after: reader.seen)
        readers[index] = reader
    }
}
