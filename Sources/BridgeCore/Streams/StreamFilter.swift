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
    /// One of these must match a message's topic; none: any topic.
    ///
    /// Lifecycle events have no topic, and always pass.
    package private(set) var topics: [TopicPattern]
    /// What must stand in a message; lifecycle events pass here as well.
    package private(set) var content: ContentFilter

    package init(
        connections: ConnectionSelection,
        types: RecordTypes = .messages,
        directions: RecordDirections = .received,
        topics: [TopicPattern] = [],
        content: ContentFilter = ContentFilter()
    ) {
        self.connections = connections
        self.types = types
        self.directions = directions
        // In one order, so that filters that are written in another way are still the same.
        self.topics = Set(topics).sorted { $0.text < $1.text }
        self.content = content
    }

    package func accepts(_ record: Record) -> Bool {
        guard acceptsEnvelope(of: record) else { return false }
        return switch record.payload {
        case .message(let message): content.accepts(message)
        case .status: true
        }
    }

    /// Whether it accepts the record as far as that can be told without looking into a message.
    func acceptsEnvelope(of record: Record) -> Bool {
        guard directions.contains(record.direction), types.contains(RecordTypes(of: record.payload)),
            connections.contains(record.connection)
        else { return false }
        guard !topics.isEmpty, let topic = record.shownTopic else { return true }
        return topics.contains { $0.matches(topic) }
    }

    /// What counts against `http.maxFilters`: that it is for this one connection, and not for that one, does not.
    package var combination: StreamFilter {
        guard connections.indices.count == 1 else { return self }
        var combination = self
        combination.connections = ConnectionSelection([])
        return combination
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

    /// What counts against `http.maxFilters`.
    package var combination: StreamShape {
        StreamShape(filter: filter.combination, format: format)
    }
}
