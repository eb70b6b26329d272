internal import WebSocketProtocol

/// Values that were captured from messages of one connection, as JSON, by name; they outlast its sockets.
package struct Variables: Equatable, Sendable {
    /// A longer value is not kept, and makes the older one void.
    static let longest = LastValues.longest

    package private(set) var values: [String: [UInt8]] = [:]

    package init() {}

    package func has(_ name: String) -> Bool { values[name] != nil }

    mutating func forget(_ names: [String]) {
        for name in names { values[name] = nil }
    }

    /// Keeps what goes by one of these names.
    mutating func narrow(to names: Set<String>) {
        values = values.filter { names.contains($0.key) }
    }

    /// Takes in what the message has; see below.
    @discardableResult
    mutating func capture(_ capture: Capture, from message: Message) -> [String] {
        guard let found = message.values(JSONSearch(capture.pointers)) else { return [] }
        return self.capture(capture, from: message, at: found)
    }

    /// Takes in what stands at the places; a variable for which there is nothing, or null, is forgotten.
    ///
    /// Returns those that are forgotten since what stands there is too long.
    mutating func capture(_ capture: Capture, from message: Message, at found: [Range<Int>?]) -> [String] {
        var tooLong: [String] = []
        for (name, place) in zip(capture.names, found) {
            values[name] = place.flatMap { Variables.value(at: $0, of: message) }
            if let place, place.count > Variables.longest { tooLong.append(name) }
        }
        return tooLong
    }

    private static func value(at place: Range<Int>, of message: Message) -> [UInt8]? {
        // Of the values of JSON only null begins with an n.
        let isNull = message.bytes[place.lowerBound] == UInt8(ascii: "n")
        return isNull || place.count > longest ? nil : Array(message.bytes[place])
    }
}

/// What is to be captured of a message: `capture: { NAME: POINTER }`.
package struct Capture: Equatable, Sendable {
    package let names: [String]
    package let pointers: [JSONPointer]

    package init(_ variables: [(name: String, pointer: JSONPointer)]) {
        names = variables.map(\.name)
        pointers = variables.map(\.pointer)
    }
}
