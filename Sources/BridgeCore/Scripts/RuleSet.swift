internal import WebSocketProtocol

/// The rules of one connection, compiled: what all of them look for in a message is found in one pass over it.
///
/// A class, so that whoever copies a machine copies one reference.
final class RuleSet: Sendable {
    /// What the rules make of a message.
    struct Outcome {
        /// In order.
        var replies: [Reply] = []
        var topic: String?
        var isForwarded = true
        var heartbeatInterval: Duration?
        /// The strongest of those of all rules, of equal ones the first.
        var action: Action?
        /// Variables whose values are too long to be kept.
        var tooLong: [String] = []
    }

    /// What a message is answered with.
    struct Reply {
        let template: MessageTemplate
        /// The number of its rule, from 1.
        let rule: Int
        /// Where in the message the values stand that it asks for.
        let found: [Range<Int>?]
    }

    enum Action {
        case reconnect(closeCode: UInt16)
        case rotate(RotationTarget)
        case stop(closeCode: UInt16)

        /// No other socket is wanted after this one.
        var isFinal: Bool { if case .stop = self { true } else { false } }

        /// Who wants no connection is not served with another, nor one that wants another at once by waiting.
        fileprivate var strength: Int {
            switch self {
            case .rotate: 0
            case .reconnect: 1
            case .stop: 2
            }
        }
    }

    private let rules: [Rule]
    private let search: JSONSearch
    /// By rule: what must stand at which place of the search; nil where the condition is no JSON.
    private let conditions: [[(place: Int, value: JSONScalar?)]?]
    /// By rule: where the search has what it takes from the message.
    private let places: [Places]

    /// Places of the search.
    private struct Places {
        let reply: [Int]
        let capture: [Int]
        let topic: [Int]
        let heartbeatInterval: Int?
        let url: Int?
    }

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
        self.places = rules.map { rule in
            var url: JSONPointer?
            if case .rotate(let pointer) = rule.action { url = pointer }
            return Places(
                reply: rule.reply?.template.pointers.map(place) ?? [],
                capture: rule.capture?.pointers.map(place) ?? [],
                topic: rule.topic?.pointers.map(place) ?? [],
                heartbeatInterval: rule.heartbeatInterval.map(place),
                url: url.map(place)
            )
        }
        search = JSONSearch(pointers)
    }

    var isEmpty: Bool { rules.isEmpty }

    /// Applies all rules that match, in order.
    func apply(to message: Message, _ variables: inout Variables) -> Outcome {
        var outcome = Outcome()
        let found = search.count == 0 ? nil : message.values(search)
        for (index, rule) in rules.enumerated() {
            let matches =
                conditions[index].map { RuleSet.holds($0, found, message) } ?? rule.condition.matches(message)
            if matches { apply(index, to: message, found, &variables, &outcome) }
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
        _ index: Int,
        to message: Message,
        _ found: [Range<Int>?]?,
        _ variables: inout Variables,
        _ outcome: inout Outcome
    ) {
        let (rule, places) = (rules[index], places[index])
        func range(at place: Int) -> Range<Int>? { found?[place] }
        func value(at place: Int) -> ArraySlice<UInt8>? { range(at: place).map { message.bytes[$0] } }
        if let reply = rule.reply {
            outcome.replies.append(
                Reply(template: reply, rule: index + 1, found: places.reply.map(range))
            )
        }
        if let capture = rule.capture, found != nil {
            outcome.tooLong += variables.capture(capture, from: message, at: places.capture.map(range))
        }
        if let topic = rule.topic { outcome.topic = topic.topic(of: message, at: places.topic.map(range)) }
        if !rule.isForwarded { outcome.isForwarded = false }
        if let value = places.heartbeatInterval.flatMap(value), let interval = RuleSet.interval(value) {
            outcome.heartbeatInterval = interval
        }
        guard let deed = rule.action else { return }
        let action: Action =
            switch deed {
            case .reconnect: .reconnect(closeCode: rule.closeCode)
            case .rotate: .rotate(places.url.map { RotationTarget(value(at: $0)) } ?? .same)
            case .stop: .stop(closeCode: rule.closeCode)
            }
        if action.strength > outcome.action?.strength ?? -1 { outcome.action = action }
    }

    /// Nil unless there is a positive number of milliseconds; what is out of all reason is brought within.
    private static func interval(_ value: ArraySlice<UInt8>) -> Duration? {
        guard let milliseconds = Double(String(decoding: value, as: UTF8.self)), milliseconds > 0 else {
            return nil
        }
        return .milliseconds(Int64(min(max(milliseconds, 10), 86_400_000)))
    }
}
