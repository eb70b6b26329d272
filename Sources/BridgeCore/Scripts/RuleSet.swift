internal import WebSocketProtocol

/// The rules of one connection, compiled: what all of them look for in a message is found in one pass over it.
///
/// A class, so that whoever copies a machine copies one reference.
final class RuleSet: Sendable {
    /// What the rules make of a message.
    struct Outcome {
        /// In order.
        var replies: [MessageTemplate] = []
        var topic: String?
        var isForwarded = true
        var heartbeatInterval: Duration?
        /// That of the first rule that has one.
        var action: Action?
    }

    enum Action {
        case reconnect(closeCode: UInt16)
        case rotate(RotationTarget)
        case stop(closeCode: UInt16)
    }

    private let rules: [Rule]
    private let search: JSONSearch
    /// By rule: what must stand at which place of the search; nil where the condition is no JSON.
    private let conditions: [[(place: Int, value: JSONScalar?)]?]

    init(_ rules: [Rule]) {
        self.rules = rules
        var pointers: [JSONPointer] = []
        var places: [JSONPointer: Int] = [:]
        conditions = rules.map { rule in
            guard case .json(let json) = rule.condition else { return nil }
            return json.conditions.map { condition in
                if let place = places[condition.pointer] { return (place, condition.value) }
                places[condition.pointer] = pointers.count
                pointers.append(condition.pointer)
                return (pointers.count - 1, condition.value)
            }
        }
        search = JSONSearch(pointers)
    }

    var isEmpty: Bool { rules.isEmpty }

    /// Applies all rules that match, in order.
    func apply(to message: Message, _ variables: inout Variables) -> Outcome {
        var outcome = Outcome()
        let found = search.count == 0 ? nil : message.values(search)
        for (rule, condition) in zip(rules, conditions) {
            let matches =
                condition.map { RuleSet.holds($0, found, message) } ?? rule.condition.matches(message)
            if matches { apply(rule, to: message, &variables, &outcome) }
        }
        return outcome
    }

    private static func holds(
        _ condition: [(place: Int, value: JSONScalar?)],
        _ found: [Range<Int>?]?,
        _ message: Message
    ) -> Bool {
        guard let found else { return condition.isEmpty && message.values(JSONSearch([])) != nil }
        return condition.allSatisfy { place, value in
            guard let range = found[place] else { return false }
            return value?.isEqual(message.bytes.span.extracting(range)) ?? true
        }
    }

    private func apply(
        _ rule: Rule,
        to message: Message,
        _ variables: inout Variables,
        _ outcome: inout Outcome
    ) {
        if let reply = rule.reply { outcome.replies.append(reply) }
        if let capture = rule.capture { variables.capture(capture, from: message) }
        if let topic = rule.topic { outcome.topic = topic.topic(of: message) }
        if !rule.isForwarded { outcome.isForwarded = false }
        if let pointer = rule.heartbeatInterval, let interval = RuleSet.interval(at: pointer, of: message) {
            outcome.heartbeatInterval = interval
        }
        guard outcome.action == nil, let action = rule.action else { return }
        outcome.action =
            switch action {
            case .reconnect: .reconnect(closeCode: rule.closeCode)
            case .rotate(let pointer): .rotate(RotationTarget(pointer, message))
            case .stop: .stop(closeCode: rule.closeCode)
            }
    }

    /// Nil unless there is a positive number of milliseconds; what is out of all reason is brought within.
    private static func interval(at pointer: JSONPointer, of message: Message) -> Duration? {
        guard let place = message.values(JSONSearch([pointer]))?[0],
            let milliseconds = Double(String(decoding: message.bytes[place], as: UTF8.self)), milliseconds > 0
        else { return nil }
        return .milliseconds(Int64(min(max(milliseconds, 10), 86_400_000)))
    }
}
