import WebSocketProtocol

/// The kinds of records that a subscriber asks for.
package struct RecordTypes: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let text = RecordTypes(rawValue: 1)
    package static let binary = RecordTypes(rawValue: 2)
    package static let status = RecordTypes(rawValue: 4)
    /// What a stream has that names no types.
    package static let messages: RecordTypes = [.text, .binary]

    /// Reads a list like `text,status`; nil if it is empty or has an unknown word.
    package init?(list: some StringProtocol) {
        var types: RecordTypes = []
        for word in list.split(separator: ",", omittingEmptySubsequences: false) {
            switch word {
            case "text": types.insert(.text)
            case "binary": types.insert(.binary)
            case "status": types.insert(.status)
            default: return nil
            }
        }
        self = types
    }

    /// The words of the list.
    package var names: [String] {
        var names: [String] = []
        if contains(.text) { names.append("text") }
        if contains(.binary) { names.append("binary") }
        if contains(.status) { names.append("status") }
        return names
    }

    /// The type of one record.
    package init(of payload: Record.Payload) {
        switch payload {
        case .message(let message): self = message.kind == .text ? .text : .binary
        case .status: self = .status
        }
    }
}

/// Which way the messages went that a subscriber asks for: the parameter `direction`.
package enum RecordDirections: String, CaseIterable, Sendable {
    case received = "in"
    case sent = "out"
    case both

    package func contains(_ direction: Record.Direction) -> Bool {
        switch self {
        case .received: direction == .received
        case .sent: direction == .sent
        case .both: true
        }
    }
}

/// Which records a subscriber gets.
package struct StreamFilter: Hashable, Sendable {
    package var connections: ConnectionSelection
    package var types: RecordTypes
    /// Lifecycle events count as received.
    package var directions: RecordDirections

    package init(
        connections: ConnectionSelection,
        types: RecordTypes = .messages,
        directions: RecordDirections = .received
    ) {
        self.connections = connections
        self.types = types
        self.directions = directions
    }

    package func accepts(_ record: Record) -> Bool {
        directions.contains(record.direction) && types.contains(RecordTypes(of: record.payload))
            && connections.contains(record.connection)
    }
}

/// What decides which bytes a subscriber gets, but for how they are delimited.
package struct StreamShape: Hashable, Sendable {
    package var filter: StreamFilter
    package var format: StreamFormat

    package init(filter: StreamFilter, format: StreamFormat = .events) {
        self.filter = filter
        self.format = format
    }
}
