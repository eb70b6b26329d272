import BridgeCore
import Testing

@Suite struct MetricsTextTests {
    private func text(_ write: (inout MetricsText) -> Void) -> String {
        var text = MetricsText()
        write(&text)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    private let family = UpstreamMetric.ready.family

    @Test func `begins a family with what it means and what it is`() {
        #expect(
            text { $0.begin(family) }
                == "# HELP wsbridge_connection_ready 1 while messages flow, else 0.\n"
                + "# TYPE wsbridge_connection_ready gauge\n"
        )
    }

    @Test func `writes labels and values`() {
        let written = text { text in
            text.line(family)
            text.value(7)
            text.line(family)
            text.label("connection", "a")
            text.label("state", "b")
            text.value(UInt64.max)
            text.line(family, "_sum")
            text.label("le", "+Inf")
            text.value(0.25)
        }
        #expect(
            written == "wsbridge_connection_ready 7\n"
                + "wsbridge_connection_ready{connection=\"a\",state=\"b\"} 18446744073709551615\n"
                + "wsbridge_connection_ready_sum{le=\"+Inf\"} 0.25\n"
        )
    }

    @Test(
        arguments: [
            ("", ""), ("plain", "plain"), (#"a"b"#, #"a\"b"#), (#"a\b"#, #"a\\b"#), ("a\nb", #"a\nb"#),
            ("\"\\\n", #"\"\\\n"#), ("ü\t\r", "ü\t\r"),
        ]
    )
    func `escapes what a label may not have`(value: String, escaped: String) {
        let written = text { text in
            text.line(family)
            text.label("connection", value)
            text.value(0)
        }
        #expect(written == "wsbridge_connection_ready{connection=\"\(escaped)\"} 0\n")
    }

    @Test(
        arguments: [
            (Duration.zero, "0"), (.seconds(-1), "0"), (.seconds(3), "3"), (.milliseconds(1500), "1.5"),
            (.nanoseconds(1), "0.000000001"), (.nanoseconds(Int64.max), "9223372036.854775807"),
        ]
    )
    func `writes times as decimal seconds`(time: Duration, seconds: String) {
        let written = text { text in
            text.line(family)
            text.value(seconds: time)
        }
        #expect(written == "wsbridge_connection_ready \(seconds)\n")
    }

    @Test func `writes a histogram with its bounds, its sum and its count`() {
        var histogram = Histogram(.roundTrip)
        histogram.observe(1_500_000_000)
        let family = UpstreamMetric.roundTrip.family
        let lines = text { $0.histogram(family, histogram) { $0.label("connection", "a") } }
            .split(separator: "\n")
        let name = "wsbridge_heartbeat_rtt_seconds"
        #expect(lines.count == 15)
        #expect(lines.first == "\(name)_bucket{connection=\"a\",le=\"0.001\"} 0")
        #expect(lines[8] == "\(name)_bucket{connection=\"a\",le=\"1\"} 0")
        #expect(lines[9] == "\(name)_bucket{connection=\"a\",le=\"2\"} 1")
        #expect(lines[12] == "\(name)_bucket{connection=\"a\",le=\"+Inf\"} 1")
        #expect(lines[13] == "\(name)_sum{connection=\"a\"} 1.5")
        #expect(lines[14] == "\(name)_count{connection=\"a\"} 1")
    }

    @Test func `gives what was written since`() {
        var text = MetricsText()
        text.begin(family)
        #expect(!text.take().isEmpty)
        #expect(text.take().isEmpty)
    }

    @Test func `has a family for each name, and counters end in total`() {
        let families = Metric.all.map(\.family)
        let names = families.map { "\($0.name)" }
        #expect(Set(names).count == names.count)
        for family in families {
            #expect("\(family.name)".hasSuffix("_total") == (family.kind == .counter))
            #expect(!"\(family.help)".contains { $0 == "\\" || $0 == "\n" })
        }
    }
}
