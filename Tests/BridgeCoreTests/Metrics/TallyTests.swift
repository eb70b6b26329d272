import Testing

@testable import BridgeCore

@Suite struct CloseCodeTallyTests {
    @Test func `counts each code`() {
        var tally = CloseCodeTally()
        for code: UInt16 in [1006, 4001, 1006, 1000] { tally.closed(code) }
        #expect(tally.rows.map(\.code) == ["1000", "1006", "4001"])
        #expect(tally.rows.map(\.count) == [1, 2, 1])
    }

    @Test func `has room for all that standards name and for some others`() {
        var tally = CloseCodeTally()
        for code: UInt16 in 3000...4999 { tally.closed(code) }
        for code: UInt16 in 1000...1015 { tally.closed(code) }
        tally.closed(3000)
        let rows = tally.rows
        #expect(rows.count == 16 + 16 + 1)
        #expect(rows.last?.code == "other")
        #expect(rows.last?.count == 2000 - 16)
        #expect(rows.first { $0.code == "3000" }?.count == 2)
        #expect(rows.reduce(0) { $0 + $1.count } == 2017)
    }
}

@Suite struct HTTPTallyTests {
    private func requests(_ tally: HTTPTally) -> [String] {
        var text = MetricsText()
        tally.writeRequests(to: &text)
        return String(decoding: text.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test(arguments: Endpoint.Resource.allCases)
    func `counts by route, method and status`(resource: Endpoint.Resource) {
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE"] {
            var tally = HTTPTally()
            for status in [200, 200, 503] { tally.answered(.init(resource, method: method), status: status) }
            let labels =
                "wsbridge_http_requests_total{method=\"\(method)\",route=\"\(resource.template)\",code="
            #expect(requests(tally) == [labels + "\"200\"} 2", labels + "\"503\"} 1"])
        }
    }

    @Test(arguments: [-1, 0, 99, 299, 599, 600, .max, .min])
    func `counts statuses that it does not know together`(status: Int) {
        var tally = HTTPTally()
        tally.answered(nil, status: status)
        let line = #"wsbridge_http_requests_total{method="other",route="other",code="other"} 1"#
        #expect(requests(tally) == [line])
    }

    @Test func `counts methods that it does not know together`() {
        var tally = HTTPTally()
        for method in ["get", "PATCH", ""] { tally.answered(.init(.health, method: method), status: 200) }
        #expect(
            requests(tally) == [
                #"wsbridge_http_requests_total{method="other",route="/healthz",code="200"} 3"#
            ]
        )
    }

    @Test func `shows every kind of problem`() {
        var tally = HTTPTally()
        tally.answered(nil, status: 404, problem: .notFound)
        var text = MetricsText()
        tally.writeRefusals(to: &text)
        let lines = String(decoding: text.bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == ProblemKind.allCases.count)
        #expect(lines.contains(#"wsbridge_http_refusals_total{problem="not-found"} 1"#))
        #expect(lines.count { $0.hasSuffix(" 0") } == lines.count - 1)
    }

    @Test func `tells each resource's requests apart`() {
        let templates = Endpoint.Resource.allCases.map(\.template)
        #expect(Set(templates).count == templates.count)
    }
}

@Suite struct ConnectionMeterTests {
    @Test func `takes each answer in once`() {
        var meter = ConnectionMeter()
        var pulse = Pulse()
        meter.look(at: nil)
        meter.look(at: pulse)
        pulse.roundTrip = .milliseconds(2)
        pulse.roundTripAt = Instant(nanoseconds: 1)
        for _ in 0..<3 { meter.look(at: pulse) }
        #expect(meter.roundTrips.cumulative.last == 1)
        pulse.roundTripAt = Instant(nanoseconds: 2)
        meter.look(at: pulse)
        #expect(meter.roundTrips.cumulative.last == 2)
    }
}

@Suite struct ProcessStatTests {
    @Test func `is read whatever the program is called`() throws {
        let rest = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 9000000 77 1844\n"
        for name in ["wsbridge", "a b", ") S 1 (", ""] {
            let stat = try #require(ProcessStat(Array("12 (\(name))\(rest)".utf8)))
            #expect(stat.startTicks == 4242)
            #expect(stat.processorTicks == 11 + 12)
            #expect(stat.virtualBytes == 9_000_000)
            #expect(stat.residentPages == 77)
        }
    }

    @Test(arguments: [
        "", ")", "1 (x) S 1 2", "1 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 -1 2 3", "x",
    ])
    func `is nothing if it makes no sense`(text: String) {
        #expect(ProcessStat(Array(text.utf8)) == nil)
    }
}
