extension LogFormat {
    /// The record as UTF-8: exactly one line, whatever its values hold, with a line feed at its end.
    ///
    /// Text is `TIME LEVEL message key=value …`; values that could be mistaken for something else stand in
    /// quotes, escaped as in JSON. JSON is an object with `time`, `level` (spelt as in the settings),
    /// `message` and the fields.
    package func line(_ record: LogRecord, at time: WallTime) -> [UInt8] {
        let bytes =
            switch self {
            case .text: LogFormat.text(record, at: time)
            case .json: LogFormat.json(record, at: time)
            }
        return bytes.withHiddenCharactersEscaped() + [UInt8(ascii: "\n")]
    }

    private static func json(_ record: LogRecord, at time: WallTime) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("time", time.text)
            json.member("level", record.level.rawValue)
            json.member("message", record.message.description)
            for (key, value) in record.fields.pairs {
                switch value {
                case .text(let text): json.member(key, text.boundedForLog)
                case .integer(let number): json.member(key, number)
                case .flag(let flag): json.member(key, flag)
                case .milliseconds(let duration): json.member(key, milliseconds: duration)
                }
            }
        }
        return json.bytes
    }

    private static func text(_ record: LogRecord, at time: WallTime) -> [UInt8] {
        var bytes: [UInt8] = []
        time.appendText(to: &bytes)
        bytes.append(contentsOf: " \(record.level.column) \(record.message)".utf8)
        for (key, value) in record.fields.pairs {
            bytes.append(contentsOf: " \(key)=".utf8)
            switch value {
            case .text(let text): append(text.boundedForLog, to: &bytes)
            case .integer(let number): bytes.append(contentsOf: String(number).utf8)
            case .flag(let flag): bytes.append(contentsOf: String(flag).utf8)
            case .milliseconds(let duration):
                bytes.append(contentsOf: JSONWriter.milliseconds(duration).utf8)
            }
        }
        return bytes
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        if !text.isEmpty, text.unicodeScalars.allSatisfy(\.isUnmistakable) {
            bytes.append(contentsOf: text.utf8)
        } else {
            JSONWriter.appendString(text.utf8, to: &bytes)
        }
    }
}

extension LogLevel {
    /// Five characters, so that messages stand in a column.
    fileprivate var column: String {
        switch self {
        case .debug: "DEBUG"
        case .info: "INFO "
        case .warning: "WARN "
        case .error: "ERROR"
        }
    }
}
