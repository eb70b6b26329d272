package import WebSocketProtocol

/// A condition on a message, compiled once and asked for every message that comes.
///
/// It takes time in proportion to the message, whatever a peer sends.
package enum Matcher: Equatable, Sendable {
    /// A text message with exactly this text.
    case equals(String)
    /// A text message with this text somewhere.
    case contains(Needle)
    /// A text message that begins with this text.
    case prefix(String)
    /// A text message in which something matches.
    case regex(RegularExpression)
    /// A binary message with exactly these bytes.
    case binary([UInt8])
    /// A message of either kind that is JSON and meets all conditions.
    case json(JSONConditions)
    /// Every message.
    case any

    package func matches(_ message: Message) -> Bool {
        switch self {
        case .equals(let text):
            message.kind == .text && message.bytes.elementsEqual(text.utf8)
        case .contains(let needle):
            message.kind == .text && needle.isFound(in: message.bytes.span)
        case .prefix(let text):
            message.kind == .text && message.bytes.starts(with: text.utf8)
        case .regex(let expression):
            message.kind == .text && expression.matches(message.bytes.span)
        case .binary(let bytes):
            message.kind == .binary && message.bytes == bytes
        case .json(let conditions):
            conditions.hold(for: message)
        case .any:
            true
        }
    }
}

/// What must stand where in a JSON document.
package struct JSONConditions: Equatable, Sendable {
    package struct Condition: Equatable, Sendable {
        package var pointer: JSONPointer
        /// Nil: any value will do, null included.
        package var value: JSONScalar?

        package init(_ pointer: JSONPointer, _ value: JSONScalar?) {
            self.pointer = pointer
            self.value = value
        }
    }

    package let conditions: [Condition]
    private let search: JSONSearch

    package init(_ conditions: [Condition]) {
        self.conditions = conditions
        search = JSONSearch(conditions.map(\.pointer))
    }

    func hold(for message: Message) -> Bool {
        guard let found = message.values(search) else { return false }
        for (condition, place) in zip(conditions, found) {
            guard let place else { return false }
            if let value = condition.value, !value.isEqual(message.bytes.span.extracting(place)) {
                return false
            }
        }
        return true
    }
}
