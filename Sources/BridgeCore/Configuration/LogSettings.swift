/// How important a log record has to be to be written.
package enum LogLevel: String, CaseIterable, Comparable, Sendable {
    case debug
    case info
    case warning
    case error

    package static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }
}

/// What a log record looks like: one line of text, or one JSON object.
package enum LogFormat: String, CaseIterable, Sendable {
    case text
    case json
}

/// What is logged, and how.
package struct LogSettings: Equatable, Sendable {
    package var level = LogLevel.info
    package var format = LogFormat.text

    package init() {}
}
