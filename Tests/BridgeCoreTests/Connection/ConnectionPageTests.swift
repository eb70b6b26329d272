import BridgeCore
import FoundationEssentials
import Testing

/// `docs/connection.md`, whose diagram and table are those of the machine.
@Suite struct `The page about connections` {
    private let lines: [Substring]

    init() throws {
        var folders = #filePath.split(separator: "/")
        folders.removeLast(4)
        let path = "/\(folders.joined(separator: "/"))/docs/connection.md"
        lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    }

    /// The first words in code of the rows below a table's head.
    private func explained(below head: String) -> [String] {
        let rows = lines.firstIndex { $0.hasPrefix(head) }.map { lines[($0 + 2)...] } ?? []
        return rows.prefix { $0.hasPrefix("|") }.compactMap { row in
            row.split(separator: "`").dropFirst().first.map(String.init)
        }
    }

    @Test func `draws the transitions of the machine`() {
        let arrows = ConnectionMachine.transitions.compactMap { transition in
            transition.to.map { "    \(transition.from) --> \($0)" }
        }
        let drawn = lines.filter { $0.contains("-->") && $0.hasPrefix("    ") }.map(String.init)
        #expect(drawn == ["    [*] --> idle"] + arrows)
    }

    @Test func `says when each is taken`() {
        let rows = ConnectionMachine.transitions.map { transition in
            let to = transition.to.map { "`\($0)`" } ?? "gone"
            return "| `\(transition.from)` | \(to) | \(transition.cause) |"
        }
        let start = lines.firstIndex(of: "| From | To | When |").map { lines[($0 + 2)...] } ?? []
        #expect(start.prefix { $0.hasPrefix("|") }.map(String.init) == rows)
    }

    @Test func `explains every state`() {
        var states: [String] = []
        for transition in ConnectionMachine.transitions where states.last != "\(transition.from)" {
            states.append("\(transition.from)")
        }
        #expect(explained(below: "| State |") == states)
    }

    @Test func `explains every record`() {
        let records: [Lifecycle] = [
            .connecting, .open(subprotocol: nil, reconnected: false), .ready,
            .closed(code: 1000, reason: "", clean: true, by: .user),
            .failed(DialFailure(phase: .tcp, error: "")), .heartbeatMissed(misses: 1), .heartbeatLost,
            .reconnecting(attempt: 1, delay: .zero), .gaveUp(attempts: 0), .networkLost, .networkRestored,
            .paused, .resumed, .rotated, .messageExpired(id: ""), .messageDropped(id: ""),
        ]
        #expect(explained(below: "| Record |") == ["snapshot"] + records.map(\.name))
    }
}
