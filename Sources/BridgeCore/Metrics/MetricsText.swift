/// Writes metrics as Prometheus reads them (text format 0.0.4), straight into bytes.
///
/// The caller keeps the grammar: all lines of a family stand together below its `begin`, and a line is `line`, then its
/// labels, then its `value`.
package struct MetricsText {
    package private(set) var bytes: [UInt8] = []
    private var hasLabels = false

    /// `Content-Type` of what it writes.
    package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    package init() {}

    /// What was written since this was last called.
    package mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    /// Makes room for so many bytes.
    package mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    /// Begins a family.
    package mutating func begin(_ family: MetricFamily) {
        append("# HELP ")
        append(family.name)
        append(" ")
        append(family.help)
        append("\n# TYPE ")
        append(family.name)
        append(" ")
        bytes.append(contentsOf: family.kind.rawValue.utf8)
        append("\n")
    }

    /// Begins a line, that of a whole family or of a part of it, such as `_sum`.
    package mutating func line(_ family: MetricFamily, _ part: StaticString = "") {
        append(family.name)
        append(part)
        hasLabels = false
    }

    package mutating func label(_ name: StaticString, _ value: some Sequence<UInt8>) {
        append(hasLabels ? "," : "{")
        hasLabels = true
        append(name)
        append("=\"")
        let start = bytes.count
        bytes.append(contentsOf: value)
        escape(from: start)
        append("\"")
    }

    package mutating func label(_ name: StaticString, _ value: String) { label(name, value.utf8) }

    package mutating func value(_ value: UInt64) {
        append(hasLabels ? "} " : " ")
        bytes.append(addingCapacity: value.decimalCount + 1) { output in
            output.appendDecimal(value)
            output.append(UInt8(ascii: "\n"))
        }
    }

    /// A count, which is never negative.
    package mutating func value(_ value: Int) { self.value(UInt64(clamping: value)) }

    package mutating func value(_ value: Bool) { self.value(value ? 1 : 0 as UInt64) }

    package mutating func value(_ value: Double) {
        append(hasLabels ? "} " : " ")
        bytes.append(contentsOf: value.description.utf8)
        append("\n")
    }

    /// A time, as the seconds that metrics count in; what is below zero counts as zero.
    package mutating func value(seconds duration: Duration) {
        append(hasLabels ? "} " : " ")
        bytes.append(contentsOf: MetricsText.seconds(nanoseconds: max(0, duration.nanoseconds)).utf8)
        append("\n")
    }

    /// All lines of a histogram; `label` adds the labels that all of them have.
    package mutating func histogram(
        _ family: MetricFamily,
        _ histogram: Histogram,
        _ label: (inout MetricsText) -> Void = { _ in }
    ) {
        let cumulative = histogram.cumulative
        let labels = histogram.scale.labels
        for place in cumulative.indices {
            line(family, "_bucket")
            label(&self)
            if place < labels.count { self.label("le", labels[place]) } else { self.label("le", "+Inf") }
            value(cumulative[place])
        }
        line(family, "_sum")
        label(&self)
        value(histogram.sum)
        line(family, "_count")
        label(&self)
        value(cumulative[cumulative.count - 1])
    }

    /// The whole line of a connection's only series.
    package mutating func line(_ family: MetricFamily, of connection: String, _ value: Int) {
        line(family)
        label("connection", connection)
        self.value(value)
    }

    /// Nanoseconds as decimal seconds, exactly.
    static func seconds(nanoseconds: Int64) -> String {
        let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        guard rest > 0 else { return String(whole) }
        var digits = Array(String(rest + 1_000_000_000).utf8.dropFirst())
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        return String(whole) + "." + String(decoding: digits, as: UTF8.self)
    }

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    /// Escapes what may not stand in the value of a label as it is.
    private mutating func escape(from start: Int) {
        guard bytes[start...].contains(where: { MetricsText.escaped($0) != nil }) else { return }
        let plain = bytes[start...]
        bytes.removeSubrange(start...)
        for byte in plain {
            if let letter = MetricsText.escaped(byte) {
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(letter)
            } else {
                bytes.append(byte)
            }
        }
    }

    private static func escaped(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\\"), UInt8(ascii: "\""): byte
        case UInt8(ascii: "\n"): UInt8(ascii: "n")
        default: nil
        }
    }
}
