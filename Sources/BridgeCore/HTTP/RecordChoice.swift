/// The parameters by which streams and polling choose records.
package struct RecordChoice: Equatable, Sendable {
    package var types = RecordTypes.messages
    package private(set) var directions = RecordDirections.received
    package private(set) var topics: [TopicPattern] = []
    package private(set) var content = ContentFilter()

    static let parameters = ["types", "direction"]
    static let repeatable = ["topic", "match"]
    /// Enough for anyone, and few enough that a message is compared with them in no time.
    private static let maxRepeats = 64

    /// Throws `invalid-parameter` (400).
    init(_ parameters: QueryParameters) throws(Problem) {
        if let list = parameters["types"] { types = try ReadingParameters.types(list) }
        if let word = parameters["direction"] { directions = try ReadingParameters.word("direction", word) }
        topics = try RecordChoice.each("topic", of: parameters) {
            TopicPattern($0)
        } orElse: {
            "it must be words joined by dots, such as `orders.*.filled` or `orders.>`, where `*` stands for one word "
                + "and `>`, as the last one, for all that follow"
        }
        let conditions = try RecordChoice.each("match", of: parameters) {
            ContentFilter.Condition($0)
        } orElse: {
            "it must be a JSON pointer, a colon and a value, such as `/symbol:BTC`"
        }
        content = ContentFilter(conditions)
    }

    private static func each<Value>(
        _ name: String,
        of parameters: QueryParameters,
        _ read: (String) -> Value?,
        orElse advice: () -> String
    ) throws(Problem) -> [Value] {
        let texts = parameters.all(name)
        guard texts.count <= maxRepeats else {
            throw .invalidParameter(name, "it is given more than \(maxRepeats) times")
        }
        var values: [Value] = []
        for text in texts {
            guard let value = read(text) else { throw .invalidParameter(name, advice()) }
            values.append(value)
        }
        return values
    }

    /// Which records of these connections are chosen.
    func filter(of connections: ConnectionSelection) -> StreamFilter {
        StreamFilter(
            connections: connections,
            types: types,
            directions: directions,
            topics: topics,
            content: content
        )
    }
}
