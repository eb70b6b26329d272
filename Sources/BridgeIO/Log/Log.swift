package import BridgeCore
internal import Glibc

/// The log of the process: records as lines on standard error.
///
/// A record below the level costs a comparison: its fields are not made. One that standard error cannot take
/// at once is dropped, and counted in the next one that it can. Make the log before anything is opened, so that
/// it notices when the process was started without standard error.
package final class Log {
    private let settings: LogSettings
    private let output: LogOutput
    private let wallTime: () -> WallTime
    private var droppedRecords = 0

    /// Makes a log whose records carry `wallTime`'s time; another `descriptor` is for tests.
    package init(
        settings: LogSettings,
        descriptor: Int32 = STDERR_FILENO,
        wallTime: @escaping () -> WallTime
    ) {
        self.settings = settings
        self.wallTime = wallTime
        output = LogOutput(descriptor: descriptor)
    }

    package func debug(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        if settings.level <= .debug { write(LogRecord(.debug, message, fields())) }
    }

    package func info(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        if settings.level <= .info { write(LogRecord(.info, message, fields())) }
    }

    package func warning(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        if settings.level <= .warning { write(LogRecord(.warning, message, fields())) }
    }

    package func error(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        write(LogRecord(.error, message, fields()))
    }

    /// Writes what happened to a connection, whose `url` is given as it may be shown.
    package func write(_ event: Lifecycle, of connection: String, url: String?) {
        write(LogRecord(event, of: connection, url: url))
    }

    /// Writes the record unless its level is filtered.
    package func write(_ record: LogRecord) {
        guard record.level >= settings.level else { return }
        let time = wallTime()
        if droppedRecords > 0 {
            let notice = LogRecord(.warning, "log records dropped", ["count": .integer(droppedRecords)])
            guard output.write(settings.format.line(notice, at: time)) else {
                droppedRecords += 1
                return
            }
            droppedRecords = 0
        }
        if !output.write(settings.format.line(record, at: time)) { droppedRecords += 1 }
    }
}
