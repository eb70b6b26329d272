/// What the system says of the process, under the names that Prometheus' own libraries give it.
package struct ProcessFigures: Sendable {
    package var openDescriptors: Int?
    package var mostDescriptors: UInt64?
    package var record: ProcessStat?
    /// The time of day, and that since the machine booted, at the same moment.
    package var time: (ofDay: WallTime, sinceBoot: Duration)?
    /// What the system counts times in.
    private let ticksPerSecond: Int
    /// What the system counts memory in.
    private let pageBytes: Int

    package init(ticksPerSecond: Int, pageBytes: Int) {
        self.ticksPerSecond = max(1, ticksPerSecond)
        self.pageBytes = max(1, pageBytes)
    }

    /// When the process began.
    package var startedAt: WallTime? {
        guard let time, let record else { return nil }
        return time.ofDay - (time.sinceBoot - duration(ticks: record.startTicks))
    }

    private func duration(ticks: Int) -> Duration { .seconds(ticks) / ticksPerSecond }

    /// Writes a line; what the system does not say has none.
    package func write(_ metric: ProcessMetric, to text: inout MetricsText) {
        func line(_ value: Int?) {
            guard let value else { return }
            text.line(metric.family)
            text.value(value)
        }
        switch metric {
        case .processorTime:
            guard let record else { return }
            text.line(metric.family)
            text.value(seconds: duration(ticks: record.processorTicks))
        case .residentMemory: line(record.map { $0.residentPages * pageBytes })
        case .virtualMemory: line(record?.virtualBytes)
        case .openDescriptors: line(openDescriptors)
        case .mostDescriptors: line(mostDescriptors.map { Int(clamping: $0) })
        case .startTime:
            guard let startedAt else { return }
            text.line(metric.family)
            text.value(Double(startedAt.millisecondsSince1970) / 1000)
        }
    }
}

/// What is in `/proc/self/stat` of interest.
package struct ProcessStat: Equatable, Sendable {
    /// Of user and system, in ticks of the clock.
    package var processorTicks: Int
    /// Since the machine booted, in ticks of the clock.
    package var startTicks: Int
    package var virtualBytes: Int
    package var residentPages: Int

    /// Nil if that is not what it should be.
    package init?(_ content: [UInt8]) {
        // The name of the program stands in parentheses, and may have spaces and parentheses itself.
        guard let end = content.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = content[(end + 1)...].split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        func number(_ field: Int) -> Int? {
            // As proc(5) counts them: what comes after the name is the third.
            guard fields.indices.contains(field - 3) else { return nil }
            return Int64(digits: String(decoding: fields[field - 3], as: UTF8.self)).map { Int($0) }
        }
        guard let user = number(14), let system = number(15), let start = number(22),
            let size = number(23), let pages = number(24)
        else { return nil }
        (processorTicks, startTicks) = (user &+ system, start)
        (virtualBytes, residentPages) = (size, pages)
    }
}

extension Duration {
    /// The first number of `/proc/uptime`; nil if there is none.
    package init?(uptime content: [UInt8]) {
        let text = String(decoding: content.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
        guard let seconds = Double(text), seconds.isFinite, seconds >= 0, seconds < 1e10 else { return nil }
        self = .milliseconds(Int64(seconds * 1000))
    }
}
