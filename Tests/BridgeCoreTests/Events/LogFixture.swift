import BridgeCore
import WebSocketProtocol
import WebSocketTestSupport

/// An event log and short ways to fill and read it.
struct LogFixture {
    var log: EventLog
    private(set) var connections: [ConnectionIndex] = []

    init(_ limits: HistoryLimits...) {
        var random = SeededGenerator(seed: 7)
        log = EventLog(epoch: Epoch(startedAt: WallTime(millisecondsSince1970: 0), random: &random))
        for (number, limit) in limits.enumerated() {
            if let index = log.register("c\(number)", limits: limit) { connections.append(index) }
        }
    }

    var all: ConnectionSelection { ConnectionSelection(connections) }

    func only(_ connection: Int) -> ConnectionSelection { ConnectionSelection(connections[connection]) }

    /// Records a text of so many bytes; by default its time is its sequence in milliseconds.
    mutating func record(on connection: Int = 0, bytes: Int = 1, at milliseconds: Int64? = nil) {
        let payload = Message(.text, [UInt8](repeating: UInt8(ascii: "x"), count: bytes))
        let time = milliseconds ?? Int64(log.headSequence + 1)
        log.append(
            .message(payload),
            of: connections[connection],
            at: WallTime(millisecondsSince1970: time)
        )
    }

    mutating func record(_ count: Int, on connection: Int = 0) {
        for _ in 0..<count { record(on: connection) }
    }

    /// All that a reader gets who starts there: sequences, and gaps as text.
    func read(_ start: StartPosition, _ connections: ConnectionSelection) -> [String] {
        var cursor = log.cursor(at: start, of: connections)
        return read(&cursor)
    }

    /// All that a reader gets who begins with the newest records that pass.
    func readLast(_ count: Int, _ filter: StreamFilter) -> [String] {
        var cursor = log.cursor(at: .last(count), of: filter.connections)
        var allowance = SearchAllowance(bytes: .max)
        _ = log.goBack(&cursor, by: filter, &allowance)
        return read(&cursor)
    }

    func read(_ cursor: inout LogCursor) -> [String] {
        log.read(&cursor, maxRecords: .max, maxBytes: .max).map(describe)
    }

    private func describe(_ entry: LogEntry) -> String {
        switch entry {
        case .record(let record):
            return "\(record.sequence)"
        case .gap(let gap):
            let missed = gap.missed.map(String.init) ?? "?"
            let oldest = gap.oldest.map { "\($0.sequence)" } ?? "none"
            return "gap \(missed) id \(gap.id.sequence) oldest \(oldest)"
        }
    }
}
