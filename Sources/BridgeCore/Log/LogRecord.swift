/// One record of the log: what happened, in constant words, and its particulars as fields.
///
/// Never give it a payload or a secret. What a peer sent may stand in a value: it is bounded and escaped, so
/// that it can neither begin a line nor forge a field.
package struct LogRecord: Sendable {
    package var level: LogLevel
    /// Stable, so that a log can be searched for it.
    package var message: StaticString
    package var fields: LogFields

    package init(_ level: LogLevel, _ message: StaticString, _ fields: LogFields = [:]) {
        self.level = level
        self.message = message
        self.fields = fields
    }
}

/// The fields of a log record, in the order in which they are written.
///
/// `time`, `level` and `message` are the record's own members and no names for fields.
package struct LogFields: ExpressibleByDictionaryLiteral, Sendable {
    package private(set) var pairs: [(key: StaticString, value: LogValue)]

    package init(dictionaryLiteral pairs: (StaticString, LogValue)...) {
        self.pairs = pairs.map { (key: $0, value: $1) }
    }

    package mutating func prepend(_ key: StaticString, _ value: LogValue) {
        pairs.insert((key: key, value: value), at: 0)
    }

    package mutating func append(_ key: StaticString, _ value: LogValue) {
        pairs.append((key: key, value: value))
    }

    /// Appends nothing if there is no value.
    package mutating func append(_ key: StaticString, ifPresent value: LogValue?) {
        if let value { append(key, value) }
    }
}

/// The value of a field.
package enum LogValue: Equatable, Sendable {
    case text(String)
    case integer(Int)
    case flag(Bool)
    /// Written as milliseconds: the name of the field says so, as in `delayMs`.
    case milliseconds(Duration)
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .flag(value) }
}
