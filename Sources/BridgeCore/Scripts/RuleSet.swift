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

        /// No other socket is wanted after this one.
        var isFinal: Bool { if case .stop = self { true } else { false } }
    }

    private let rules: [Rule]
    private let search: JSONSearch
    /// By rule: what must stand at which place of the search; nil where the condition is no JSON.
    private let conditions: [[(place: Int, value: JSONScalar?)]?]

    /// Where the search has each of its pointers.
    private let places: [JSONPointer: Int]

    init(_ rules: [Rule]) {
        self.rules = rules
        var pointers: [JSONPointer] = []
        var places: [JSONPointer: Int] = [:]
        func place(of pointer: JSONPointer) -> Int {
            if let place = places[pointer] { return place }
            places[pointer] = pointers.count
            pointers.append(pointer)
            return pointers.count - 1
        }
        conditions = rules.map { rule in
            guard case .json(let json) = rule.condition else { return nil }
            return json.conditions.map { (place(of: $0.pointer), $0.value) }
        }
        for rule in rules {
            if let pointer = rule.heartbeatInterval { _ = place(of: pointer) }
            if case .rotate(let pointer?) = rule.action { _ = place(of: pointer) }
        }
        self.places = places
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
            if matches { apply(rule, to: message, found, &variables, &outcome) }
        }
        return outcome
    }

    private static func holds(
        _ condition: [(place: Int, value: JSONScalar?)],
        _ found: [Range<Int>?]?,
        _ message: Message
    ) -> Bool {
        guard let found else { return condition.isEmpty && JSONConditions([]).hold(for: message) }
        return condition.allSatisfy { place, value in
            guard let range = found[place] else { return false }
            return value?.isEqual(message.bytes.span.extracting(range)) ?? true
        }
    }

    private func apply(
        _ rule: Rule,
        to message: Message,
        _ found: [Range<Int>?]?,
        _ variables: inout Variables,
        _ outcome: inout Outcome
    ) {
        if let reply = rule.reply { outcome.replies.append(reply) }
        if let capture = rule.capture { variables.capture(capture, from: message) }
        if let topic = rule.topic { outcome.topic = topic.topic(of: message) }
        if !rule.isForwarded { outcome.isForwarded = false }
        func value(at pointer: JSONPointer) -> ArraySlice<UInt8>? {
            places[pointer].flatMap { found?[$0] }.map { message.bytes[$0] }
        }
        if let value = rule.heartbeatInterval.flatMap(value), let interval = RuleSet.interval(value) {
            outcome.heartbeatInterval = interval
        }
        guard outcome.action == nil, let action = rule.action else { return }
        outcome.action =
            switch action {
            case .reconnect: .reconnect(closeCode: rule.closeCode)
            case .rotate(let pointer?): .rotate(RotationTarget(value(at: pointer)))
            case .rotate(nil): .rotate(.same)
            case .stop: .stop(closeCode: rule.closeCode)
            }
    }

    /// Nil unless there is a positive number of milliseconds; what is out of all reason is brought within.
    private static func interval(_ value: ArraySlice<UInt8>) -> Duration? {
        guard let milliseconds = Double(String(decoding: value, as: UTF8.self)), milliseconds > 0 else {
            return nil
        }
        return .milliseconds(Int64(min(max(milliseconds, 10), 86_400_000)))
    }
}
