import BridgeCore
import Testing

@Suite struct `Query parameters` {
    private func admit(_ line: String, _ fields: String...) -> Admission {
        gate().admit(request(line, fields: fields), connections: ["default"])
    }

    @Test(arguments: [
        ("GET /healthz?x=1", "x"), ("GET /status?since=start", "since"),
        ("GET /v1/connections?limit=1", "limit"),
        ("GET /v1/connections/default?x", "x"), ("POST /connect?x", "x"),
        ("POST /disconnect?code=1000", "code"),
        ("POST /messages?limit=1", "limit"), ("POST /messages?wait=", "wait"),
        ("POST /messages?wait=soon", "wait"),
        ("POST /messages?wait=301s", "wait"), ("POST /messages?queue=no", "queue"), ("GET /outbox?x", "x"),
        ("DELETE /outbox/e-m1?x", "x"), ("POST /pause?x", "x"), ("GET /readyz?x", "x"),
        ("GET /metrics?x", "x"),
        ("POST /messages?type=json", "type"),
        ("POST /messages?type=", "type"), ("POST /messages?type=text&type=text", "type"),
        ("POST /messages?Type=text", "Type"), ("POST /messages?%74ype=text&type=binary", "type"),
        ("GET /events?format=xml", "format"), ("GET /events?format=", "format"),
        ("GET /events?format=json&format=json", "format"), ("GET /events?format=JSON", "format"),
        ("GET /events?type=text", "type"), ("GET /events?wait=1s", "wait"),
        ("GET /events?format=raw&types=status", "types"),
        ("GET /events?direction=up", "direction"), ("GET /events?direction=in,out", "direction"),
        ("GET /events?last=-1", "last"), ("GET /events?last=x", "last"), ("GET /events?last=", "last"),
        ("GET /events?last=1&since=start", "last"), ("GET /events?since=now&last=1", "last"),
        ("GET /events?idle=0", "idle"), ("GET /events?idle=", "idle"), ("GET /events?idle=soon", "idle"),
        ("GET /events?idle=1s&idle=1s", "idle"), ("GET /events?slow=stop", "slow"),
        ("GET /events?connection=default", "connection"),
        ("GET /v1/events?connection=", "connection"), ("GET /v1/events?name=default", "name"),
        ("GET /v1/events?since=start&since=now", "since"),
        ("GET /subscribers?limit=1", "limit"),
        ("GET /messages?format=json", "format"), ("GET /messages?last=1", "last"),
        ("GET /messages?type=text", "type"), ("GET /messages?idle=1s", "idle"),
        ("GET /messages?limit=0", "limit"), ("GET /messages?limit=1001", "limit"),
        ("GET /messages?limit=-1", "limit"), ("GET /messages?wait=301s", "wait"),
        ("GET /messages?wait=-1s", "wait"), ("GET /messages?wait=x", "wait"),
        ("GET /messages?since=yesterday", "since"), ("GET /messages?types=all", "types"),
        ("GET /messages?direction=up", "direction"), ("GET /messages?wait=1s&wait=1s", "wait"),
        ("GET /events?types=", "types"),
        ("GET /events?types=text,", "types"), ("GET /events?types=all", "types"),
        ("GET /events?types=text%20", "types"),
        ("GET /events?limit=0", "limit"), ("GET /events?limit=-1", "limit"),
        ("GET /events?limit=%2B1", "limit"),
        ("GET /events?limit=1.0", "limit"), ("GET /events?limit=", "limit"),
        ("GET /events?limit=99999999999999999999", "limit"), ("GET /events?limit=1&limit=1", "limit"),
        ("GET /events?since=", "since"), ("GET /events?since=yesterday", "since"),
        ("GET /events?since=-5s", "since"),
        ("GET /events?since=2026-02-30T00:00:00Z", "since"), ("GET /events?since=10m&since=10m", "since"),
        ("GET /events?access_token=a&access_token=a", "access_token"),
    ])
    func `that are unknown, repeated or malformed are refused by name`(line: String, name: String) {
        let admission = admit(line)
        #expect(admission.summary == "400 invalid-parameter")
        #expect(admission.response?.text.contains("`\(name)`: ") == true)
    }

    private func events(_ line: String, _ fields: String...) -> EventsQuery? {
        guard
            case .events("default", let query) = gate().admit(
                request(line, fields: fields),
                connections: ["default"]
            ).route
        else { return nil }
        return query
    }

    @Test(
        arguments: [
            ("GET /events", RecordTypes.messages), ("GET /events?types=status", .status),
            ("GET /events?types=text,binary,status", [.text, .binary, .status]),
            ("GET /events?types=text%2Cbinary", .messages),
        ] as [(String, RecordTypes)]
    )
    func `select the types of records`(line: String, types: RecordTypes) {
        #expect(events(line)?.choice.types == types)
    }

    @Test(
        arguments: [
            ("GET /events", nil), ("GET /events?limit=1", 1),
            ("GET /events?limit=9223372036854775807", Int.max),
        ] as [(String, Int?)]
    )
    func `limit the records`(line: String, limit: Int?) throws {
        let query = try #require(events(line))
        #expect(query.limit == limit)
    }

    @Test(
        arguments: [
            ("GET /events", [], .events), ("GET /events?format=sse", [], .events),
            ("GET /events?format=json", [], .records), ("GET /events?format=ndjson", [], .recordLines),
            ("GET /events?format=raw", [], .payloads),
            ("GET /events", ["Accept: application/x-ndjson"], .recordLines),
            ("GET /events", ["Accept: text/html, Application/X-NDJSON ; q=0.5, */*;q=0.1"], .recordLines),
            ("GET /events", ["Accept: text/html", "Accept: application/x-ndjson"], .recordLines),
            ("GET /events", ["Accept: application/x-ndjson;q=0"], .events),
            ("GET /events", ["Accept: application/x-ndjson;q=0.000"], .events),
            ("GET /events", ["Accept: application/x-ndjson;q=2"], .events),
            ("GET /events", ["Accept: application/x-ndjson;q=x"], .events),
            ("GET /events", ["Accept: application/x-ndjson;q=0.1234"], .events),
            ("GET /events", ["Accept: text/event-stream, application/x-ndjson"], .events),
            ("GET /events", ["Accept: text/event-stream;q=0.5, application/x-ndjson;q=0.6"], .recordLines),
            ("GET /events", ["Accept: application/x-ndjson;charset=utf-8;q=0.5"], .recordLines),
            ("GET /events", ["Accept: text/event-stream"], .events),
            ("GET /events", ["Accept: */*"], .events),
            ("GET /events", ["Accept: application/json"], .events), ("GET /events", ["Accept:"], .events),
            ("GET /events?format=raw", ["Accept: application/x-ndjson"], .payloads),
        ] as [(String, [String], StreamFormat)]
    )
    func `choose the format before Accept does`(line: String, fields: [String], format: StreamFormat) {
        guard
            case .events(_, let query) = gate().admit(request(line, fields: fields), connections: ["default"])
                .route
        else { return #expect(Bool(false)) }
        #expect(query.format == format)
    }

    @Test func `that ask for status are heard as far as the format shows it`() {
        #expect(events("GET /events?format=raw&types=text,status")?.choice.types == .text)
        #expect(events("GET /events?format=json&types=status")?.choice.types == .status)
        #expect(events("GET /events?format=ndjson&types=status")?.choice.types == .status)
    }

    @Test(
        arguments: [
            ("GET /events", .received), ("GET /events?direction=in", .received),
            ("GET /events?direction=out", .sent), ("GET /events?direction=both", .both),
        ] as [(String, RecordDirections)]
    )
    func `select the direction`(line: String, directions: RecordDirections) {
        #expect(events(line)?.choice.directions == directions)
    }

    @Test func `select topics and contents, of streams and of polling`() throws {
        let query = "topic=orders.%3E&topic=a&match=/s:B%20C&match=/n:1:2"
        let stream = try #require(events("GET /events?" + query)).choice
        #expect(stream.topics.map(\.text) == ["orders.>", "a"])
        #expect(stream.content.conditions.map(\.text) == ["/n:1:2", "/s:B C"])
        #expect(try #require(poll("GET /messages?" + query)).choice == stream)
        #expect(events("GET /events")?.choice.content.isEmpty == true)
    }

    @Test func `say when a stream ends by itself and what becomes of a slow one`() throws {
        let plain = try #require(events("GET /events"))
        #expect(plain.idle == nil && plain.slowness == .gap)
        let chosen = try #require(events("GET /events?idle=1m30s&slow=disconnect"))
        #expect(chosen.idle == .seconds(90) && chosen.slowness == .disconnect)
        #expect(events("GET /events?idle=0.001&slow=gap")?.idle == .milliseconds(1))
    }

    @Test func `make a subscription`() throws {
        let fixture = LogFixture(HistoryLimits())
        let line =
            "GET /events?format=ndjson&types=binary&direction=both&last=5&limit=2&idle=1s&slow=disconnect"
        let query = try #require(events(line))
        let filter = StreamFilter(connections: fixture.only(0), types: .binary, directions: .both)
        let expected = Subscription(
            shape: StreamShape(filter: filter, format: .recordLines),
            start: .last(5),
            limit: 2,
            idle: .seconds(1),
            slowness: .disconnect
        )
        #expect(query.subscription(to: fixture.only(0), at: now) == expected)
    }

    private func poll(_ line: String) -> PollQuery? {
        guard case .poll("default", let query) = gate().admit(request(line), connections: ["default"]).route
        else { return nil }
        return query
    }

    @Test func `of polling have defaults`() throws {
        let query = try #require(poll("GET /messages"))
        #expect(query.limit == 100 && query.wait == nil && query.choice.types == .messages)
        #expect(query.choice.directions == .received && query.position(at: now) == .start)
    }

    @Test func `of polling are taken`() throws {
        let line = "GET /messages?since=10m&limit=1000&wait=5m&types=status,text&direction=out"
        let query = try #require(poll(line))
        #expect(query.limit == 1000 && query.wait == .seconds(300) && query.choice.types == [.status, .text])
        #expect(query.choice.directions == .sent)
        #expect(query.position(at: now) == .since(WallTime(millisecondsSince1970: 400_000)))
        #expect(poll("GET /messages?wait=0&limit=1")?.wait == .zero)
    }

    private let now = WallTime(millisecondsSince1970: 1_000_000)

    @Test(arguments: [
        ("", StartPosition.now), ("?since=now", .now), ("?since=start", .start),
        ("?last=10", .last(10)), ("?last=0", .last(0)),
        ("?since=10m", .since(WallTime(millisecondsSince1970: 400_000))),
        ("?since=1.5", .since(WallTime(millisecondsSince1970: 998_500))),
        ("?since=1970-01-01T00:00:02Z", .since(WallTime(millisecondsSince1970: 2_000))),
        ("?since=1970-01-01T01:00:02%2B01:00", .since(WallTime(millisecondsSince1970: 2_000))),
    ])
    func `say where a stream begins`(query: String, position: StartPosition) {
        #expect(events("GET /events\(query)")?.position(at: now) == position)
    }

    private static let id = "0123456789ab-7"

    @Test(arguments: ["GET /events", "GET /events?since=start", "GET /events?last=3"])
    func `give way to Last-Event-ID`(line: String) throws {
        let id = try #require(EventID(text: Self.id))
        #expect(events(line, "Last-Event-ID: \(Self.id)")?.position(at: now) == .after(id))
        #expect(events("GET /events?since=\(Self.id)")?.position(at: now) == .after(id))
    }

    @Test func `stand when Last-Event-ID is empty`() {
        #expect(events("GET /events?since=start", "Last-Event-ID:")?.position(at: now) == .start)
    }

    @Test(arguments: ["x", "start", "10m", "1-2-3"])
    func `do not save a malformed Last-Event-ID`(id: String) {
        #expect(admit("GET /events", "Last-Event-ID: \(id)").summary == "400 invalid-parameter")
    }
}
