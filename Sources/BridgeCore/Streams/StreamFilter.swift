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

    /// The type of one record.
    package init(of payload: Record.Payload) {
        switch payload {
        case .message(let message): self = message.kind == .text ? .text : .binary
        case .status: self = .status
        }
    }
}

/// Which records a subscriber gets.
package struct StreamFilter: Hashable, Sendable {
    package var connections: ConnectionSelection
    package var types: RecordTypes

    package init(connections: ConnectionSelection, types: RecordTypes = .messages) {
        self.connections = connections
        self.types = types
    }

    /// Records of what was sent to the upstream are never accepted.
    package func accepts(_ record: Record) -> Bool {
        record.direction == .received && types.contains(RecordTypes(of: record.payload))
            && connections.contains(record.connection)
    }
}

/// Everything that decides which bytes a subscriber gets: those of equal shape get the same ones.
package struct StreamShape: Hashable, Sendable {
    package var filter: StreamFilter
    package var framing: BodyFraming

    package init(filter: StreamFilter, framing: BodyFraming) {
        self.filter = filter
        self.framing = framing
    }
}
